/* A command run to its end, as if it had been started in this program's place. */
#ifndef WARPWATCH_RUN_CHILD_H
#define WARPWATCH_RUN_CHILD_H

#include <stdbool.h>

/* Signals sent to this process reach the command; those that the terminal sends to all reach it anyway.
 * Returns its exit status, 128 + n if signal n ended it; 126 or 127, *started false, after a complaint if it
 * did not start. */
int run_child(char **command, bool *started);

#endif
