/* The state, and what was lost. */
#include "recorder_state.h"

#include "store.h"

_Alignas(PAGE_BYTES) union recorder_page recorder_page;

void recorder_choose_mode(void)
{
    uint32_t mode = load_relaxed(&recorder.mode);
    if (mode == RECORDER_PLAIN || mode == RECORDER_CAREFUL) {
        store_release(&recorder.mode, load_relaxed(&recorder.captures) ? RECORDER_CAREFUL : RECORDER_PLAIN);
    }
}

void recorder_lost(uint64_t launches, enum store_loss reason)
{
    struct store_header *header = store_header();
    if (header == NULL) {
        return;
    }
    atomic_fetch_add_explicit((_Atomic uint64_t *)&header->lost, launches, memory_order_relaxed);
    uint32_t none = STORE_LOSS_NONE;
    atomic_compare_exchange_strong((_Atomic uint32_t *)&header->lost_reason, &none, reason);
}
