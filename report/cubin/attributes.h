/* `.nv.info` sections: the attributes that the compiler leaves for the driver. */
#ifndef WARPWATCH_ATTRIBUTES_H
#define WARPWATCH_ATTRIBUTES_H

#include "cubin.h"
#include "elf_view.h"

/* What the file-wide section says about one symbol; a bit of enum cubin_valid for each known field. */
struct symbol_attributes {
    uint32_t valid;
    uint32_t registers, frame_bytes, min_stack_bytes;
};
enum cubin_status attributes_read_symbols(struct elf_bytes section, struct symbol_attributes *symbols,
                                          uint32_t symbols_count);

/* Room for the parameters of one kernel after the other. */
struct parameter_list {
    struct cubin_parameter *at;
    uint32_t count, capacity;
};
/* Adds what a kernel's own section says; kernel->parameters stays for the caller to set from the list. */
enum cubin_status attributes_read_kernel(struct elf_bytes section, struct cubin_kernel *kernel,
                                         struct parameter_list *parameters);

#endif
