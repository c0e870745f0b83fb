/* What a cubin says about itself as a whole; used by cubin.c. */
#ifndef WARPWATCH_CUBIN_INFO_H
#define WARPWATCH_CUBIN_INFO_H

#include "cubin.h"
#include "elf_view.h"

void cubin_describe(const struct elf_view *view, struct cubin_info *info);

#endif
