/* Lookups by name: what dlsym, dlvsym and cuGetProcAddress answer to the program. */
#ifndef WARPWATCH_LOOKUP_H
#define WARPWATCH_LOOKUP_H

/* From now on answer nothing with a wrapper (WARPWATCH_DISABLE). */
void lookup_disable(void);

#endif
