/* For files that cannot include the toolkit's headers. */
#ifndef SIMCUDA_RUNTIME_LAST_ERROR_H
#define SIMCUDA_RUNTIME_LAST_ERROR_H

/* Makes "not supported" the thread's last error and returns it. */
int runtime_refuse(void);

#endif
