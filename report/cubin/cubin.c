/* Kernels of a cubin with their resources, and its global variables. */
#include "cubin.h"

#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "cubin_info.h"
#include "elf_view.h"

/* Sections of one kernel, kept at the index of its .text; 0 where there is none. */
struct kernel_sections {
    uint32_t info, shared, constant;
};

struct reader {
    const struct elf_view *view;
    struct cubin_info info;
    struct elf_symbols symbols;
    struct symbol_attributes *attributes; /* by symbol index */
    struct kernel_sections *sections;     /* by index of the .text section */
    struct parameter_list parameters;
};

const char *cubin_status_text(enum cubin_status status)
{
    switch (status) {
    case CUBIN_OK:
        return "ok";
    case CUBIN_STOPPED:
        return "stopped";
    case CUBIN_TRUNCATED:
        return "cut off: a part lies past the end";
    case CUBIN_MALFORMED:
        return "malformed: a field holds an impossible value";
    case CUBIN_UNSUPPORTED:
        return "of a kind that is not read (obfuscated, link-time code, 32-bit)";
    case CUBIN_CODEC:
        return "cannot be decompressed";
    case CUBIN_NO_MEMORY:
        return "out of memory";
    }
    return "unknown status";
}

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void link_section(struct reader *reader, uint32_t index)
{
    Elf64_Shdr section = elf_section(reader->view, index);
    const char *name = elf_section_name(reader->view, &section);
    if (section.sh_info >= reader->view->sections || !has_prefix(name, ".nv.")) {
        return;
    }
    struct kernel_sections *kernel = &reader->sections[section.sh_info];
    if (has_prefix(name, ".nv.info.")) {
        kernel->info = index;
    } else if (has_prefix(name, ".nv.shared.")) {
        kernel->shared = index;
    } else if (has_prefix(name, ".nv.constant0.")) {
        kernel->constant = index;
    }
}

static enum cubin_status read_symbol_attributes(struct reader *reader)
{
    uint32_t index = elf_section_find(reader->view, ".nv.info");
    if (index == 0) {
        return CUBIN_OK;
    }
    struct elf_bytes bytes;
    enum cubin_status status = elf_section_bytes(reader->view, index, &bytes);
    return status != CUBIN_OK ? status
                              : attributes_read_symbols(bytes, reader->attributes, reader->symbols.count);
}

static enum cubin_status reader_open(struct reader *reader)
{
    enum cubin_status status = elf_symbols_open(reader->view, &reader->symbols);
    if (status != CUBIN_OK) {
        return status;
    }
    reader->attributes = calloc((size_t)reader->symbols.count + 1, sizeof *reader->attributes);
    reader->sections = calloc(reader->view->sections, sizeof *reader->sections);
    if (!reader->attributes || !reader->sections) {
        return CUBIN_NO_MEMORY;
    }
    for (uint32_t index = 1; index < reader->view->sections; index++) {
        link_section(reader, index);
    }
    return read_symbol_attributes(reader);
}

static void reader_free(struct reader *reader)
{
    free(reader->attributes);
    free(reader->sections);
    free(reader->parameters.at);
}

/* Declared with __global__ and defined here: a function that is an entry, in the section of its own name. */
static bool symbol_is_kernel(const struct reader *reader, const Elf64_Sym *symbol)
{
    enum { OTHER_ENTRY = 0x10 };
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !(symbol->st_other & OTHER_ENTRY) ||
        symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= reader->view->sections) {
        return false;
    }
    Elf64_Shdr text = elf_section(reader->view, symbol->st_shndx);
    const char *section_name = elf_section_name(reader->view, &text);
    const char *name = elf_string(&reader->symbols.strings, symbol->st_name);
    return *name && has_prefix(section_name, ".text.") && strcmp(section_name + strlen(".text."), name) == 0;
}

static void read_registers(const struct reader *reader, const Elf64_Shdr *text, uint32_t symbol_index,
                           struct cubin_kernel *kernel)
{
    const struct symbol_attributes *known = &reader->attributes[symbol_index];
    kernel->valid |= known->valid;
    kernel->registers_per_thread = known->registers;
    kernel->stack_bytes = known->frame_bytes;
    kernel->min_stack_bytes = known->min_stack_bytes;
    if (!(known->valid & CUBIN_HAS_REGISTERS) && text->sh_info >> 24) {
        kernel->registers_per_thread = text->sh_info >> 24;
        kernel->valid |= CUBIN_HAS_REGISTERS;
    }
}

/* A linked kernel of sm_90 and later carries the 1 KB that the system reserves in each block. */
static uint32_t static_shared_bytes(const struct reader *reader, uint32_t section_index)
{
    enum { RESERVED_BYTES = 1024 };
    if (section_index == 0) {
        return 0;
    }
    uint64_t bytes = elf_section(reader->view, section_index).sh_size;
    if (!reader->info.relocatable && reader->info.sm >= 90 && bytes >= RESERVED_BYTES) {
        bytes -= RESERVED_BYTES;
    }
    return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

static uint32_t barriers_in_flags(const struct reader *reader, const Elf64_Shdr *text)
{
    return reader->info.abi < 8 ? (uint32_t)(text->sh_flags >> 20 & 0x7f) : 0;
}

static enum cubin_status read_kernel(struct reader *reader, uint32_t symbol_index, const Elf64_Sym *symbol,
                                     struct cubin_kernel *kernel)
{
    const struct kernel_sections *sections = &reader->sections[symbol->st_shndx];
    Elf64_Shdr text = elf_section(reader->view, symbol->st_shndx);
    struct elf_bytes bytes;
    enum cubin_status status = elf_section_bytes(reader->view, symbol->st_shndx, &bytes);
    if (status != CUBIN_OK) {
        return status;
    }
    *kernel = (struct cubin_kernel){
        .name = elf_string(&reader->symbols.strings, symbol->st_name),
        .local_binding = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL,
        .static_shared_bytes = static_shared_bytes(reader, sections->shared),
        .barriers = barriers_in_flags(reader, &text),
    };
    read_registers(reader, &text, symbol_index, kernel);
    if (sections->constant) {
        kernel->constant_bytes = (uint32_t)elf_section(reader->view, sections->constant).sh_size;
    }
    reader->parameters.count = 0;
    if (sections->info) {
        kernel->valid |= CUBIN_HAS_PARAMETERS; /* a kernel without any has no attribute for them */
        status = elf_section_bytes(reader->view, sections->info, &bytes);
        status = status ? status : attributes_read_kernel(bytes, kernel, &reader->parameters);
    }
    kernel->parameters = reader->parameters.at;
    kernel->parameters_count = reader->parameters.count;
    return status;
}

static enum cubin_status visit_kernels(struct reader *reader, cubin_visitor visit, void *context)
{
    for (uint32_t index = 1; index < reader->symbols.count; index++) {
        Elf64_Sym symbol = elf_symbol(&reader->symbols, index);
        if (!symbol_is_kernel(reader, &symbol)) {
            continue;
        }
        struct cubin_kernel kernel;
        enum cubin_status status = read_kernel(reader, index, &symbol, &kernel);
        if (status != CUBIN_OK) {
            return status;
        }
        if (!visit(&kernel, context)) {
            return CUBIN_STOPPED;
        }
    }
    return CUBIN_OK;
}

static enum cubin_status open_cubin(struct elf_view *view, const void *elf, size_t size)
{
    enum cubin_status status = elf_view_open(view, elf, size);
    return status == CUBIN_OK && view->header.e_machine != EM_CUDA_CUBIN ? CUBIN_UNSUPPORTED : status;
}

enum cubin_status cubin_read(const void *elf, size_t size, struct cubin_info *info, cubin_visitor visit,
                             void *context)
{
    struct elf_view view;
    enum cubin_status status = open_cubin(&view, elf, size);
    if (status != CUBIN_OK) {
        return status;
    }
    struct reader reader = {.view = &view};
    cubin_describe(&view, &reader.info);
    if (info) {
        *info = reader.info;
    }
    if (!visit) {
        return CUBIN_OK;
    }
    status = reader_open(&reader);
    if (status == CUBIN_OK) {
        status = visit_kernels(&reader, visit, context);
    }
    reader_free(&reader);
    return status;
}

/* What the section holds for the symbol; NULL if that is nothing, or not all of it. */
static const void *initial_value(const struct elf_view *view, const Elf64_Sym *symbol)
{
    struct elf_bytes bytes;
    if (!elf_section_occupies_file(elf_section(view, symbol->st_shndx).sh_type) ||
        elf_section_bytes(view, symbol->st_shndx, &bytes) != CUBIN_OK || symbol->st_value > bytes.size ||
        symbol->st_size > bytes.size - symbol->st_value) {
        return NULL;
    }
    return bytes.at + symbol->st_value;
}

static bool global_of_symbol(const struct elf_view *view, const struct elf_symbols *symbols,
                             const Elf64_Sym *symbol, struct cubin_global *global)
{
    enum { STT_CUDA_OBJECT = 13 }; /* in relocatable code */
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if ((type != STT_OBJECT && type != STT_CUDA_OBJECT) || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_shndx >= view->sections) {
        return false;
    }
    Elf64_Shdr section = elf_section(view, symbol->st_shndx);
    const char *section_name = elf_section_name(view, &section);
    *global = (struct cubin_global){
        .name = elf_string(&symbols->strings, symbol->st_name),
        .bytes = symbol->st_size,
        .initial = initial_value(view, symbol),
        .constant = strcmp(section_name, ".nv.constant3") == 0,
    };
    return *global->name && (global->constant || strcmp(section_name, ".nv.global") == 0 ||
                             strcmp(section_name, ".nv.global.init") == 0);
}

enum cubin_status cubin_read_globals(const void *elf, size_t size, cubin_global_visitor visit, void *context)
{
    struct elf_view view;
    struct elf_symbols symbols;
    enum cubin_status status = open_cubin(&view, elf, size);
    if (status == CUBIN_OK) {
        status = elf_symbols_open(&view, &symbols);
    }
    for (uint32_t index = 1; status == CUBIN_OK && index < symbols.count; index++) {
        Elf64_Sym symbol = elf_symbol(&symbols, index);
        struct cubin_global global;
        if (global_of_symbol(&view, &symbols, &symbol, &global) && !visit(&global, context)) {
            return CUBIN_STOPPED;
        }
    }
    return status;
}
