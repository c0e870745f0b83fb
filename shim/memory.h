/* The shim's private memory: whole pages from the kernel, because malloc belongs to the program. */
#ifndef WARPWATCH_MEMORY_H
#define WARPWATCH_MEMORY_H

#include <sys/mman.h>

#include "platform.h"

static inline void *memory_map(uint64_t bytes)
{
    void *pages =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

static inline void memory_unmap(void *pages, uint64_t bytes)
{
    if (pages) {
        munmap(pages, bytes);
    }
}

#endif
