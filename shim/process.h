/* The life of the process: loaded, first launch, forked, ended. */
#ifndef WARPWATCH_PROCESS_H
#define WARPWATCH_PROCESS_H

#include "platform.h"

/* Makes the store; recorder.mode tells how it went. The launch began at `start`, in ticks; 0: not known. */
void process_first_launch(uint64_t start);
/* Notes in the store that the process is alive, and the clock's rate. */
void process_sign_of_life(void);
void process_set_feature(uint64_t store_feature_bits);
/* What is counted is told by CUPTI's callbacks: lookup does not lead here. */
void process_is_injected(void);
/* Absolute path of this library. */
const char *process_library_path(void);

#endif
