/* Keeps the address ranges of the shared runtimes that are mapped. Called from lookups, so without
 * sanitizers. */
#include "runtime.h"

#include "elf_object.h"

struct runtime_ranges runtime_ranges;

static _Atomic uintptr_t stranger_start, stranger_bytes;

void runtime_note_caller(const void *caller)
{
    if (runtime_calls(caller) ||
        (uintptr_t)caller - load_relaxed(&stranger_start) < load_relaxed(&stranger_bytes)) {
        return;
    }
    struct elf_object object;
    if (!elf_object_holding(caller, &object)) {
        return;
    }
    if (!elf_object_is(&object, "libcudart.so")) {
        store_relaxed(&stranger_start, object.start);
        store_relaxed(&stranger_bytes, object.end - object.start);
        return;
    }
    uint32_t slot = load_relaxed(&runtime_ranges.count) % RUNTIME_MOST;
    store_relaxed(&runtime_ranges.range[slot].start, object.start);
    store_relaxed(&runtime_ranges.range[slot].bytes, object.end - object.start);
    store_release(&runtime_ranges.count, slot + 1);
}
