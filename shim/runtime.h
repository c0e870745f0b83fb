/* Which callers are a shared CUDA runtime. */
#ifndef WARPWATCH_RUNTIME_H
#define WARPWATCH_RUNTIME_H

#include "platform.h"

enum { RUNTIME_MOST = 4 };

struct runtime_ranges {
    _Atomic uint32_t count;
    struct {
        _Atomic uintptr_t start, bytes;
    } range[RUNTIME_MOST];
};
extern HIDDEN struct runtime_ranges runtime_ranges;

/* To be told of everyone who looks up driver functions: a runtime does so before its first launch. */
void runtime_note_caller(const void *caller);

static ALWAYS_INLINE bool runtime_calls(const void *caller)
{
    for (uint32_t i = 0; i < load_relaxed(&runtime_ranges.count); i++) {
        if ((uintptr_t)caller - load_relaxed(&runtime_ranges.range[i].start) <
            load_relaxed(&runtime_ranges.range[i].bytes)) {
            return true;
        }
    }
    return false;
}

#endif
