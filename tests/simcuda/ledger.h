/* The ledger: every call, every accepted launch, every fault of the client. */
#ifndef SIMCUDA_LEDGER_H
#define SIMCUDA_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

struct launch_request;

void ledger_count_call(int call);
/* `times` launches of an accepted request; `replayed` by a graph. The request has passed launch_check. */
void ledger_count_launch(const struct launch_request *request, uint64_t times, bool replayed);
/* Notes what the client did wrong, once for each text. */
void ledger_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Called by thread.c when a thread ends, and in a forked child. */
struct ledger_thread;
void ledger_thread_ended(struct ledger_thread *ledger);
void ledger_before_fork(void);
void ledger_after_fork_parent(void);
void ledger_after_fork_child(void);

#endif
