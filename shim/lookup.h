/* Lookups by name: what dlsym, dlvsym and cuGetProcAddress answer to the program. */
#ifndef WARPWATCH_LOOKUP_H
#define WARPWATCH_LOOKUP_H

#include "platform.h"

/* The next definition of a name after this library in the program's lookup order; NULL if there is none. */
void *lookup_after_us(const char *name);
void *lookup_version_after_us(const char *name, const char *version);
/* The loader's own dlsym and dlvsym. */
void *lookup_symbol(void *library, const char *name);
void *lookup_version(void *library, const char *name, const char *version);
/* Does the library stand before the C library, as one that was preloaded does? */
bool lookup_is_preloaded(void);
/* Is another copy of the library ahead in lookup order? That one counts. */
bool lookup_has_copy_before_us(void);
/* From now on answer nothing with a wrapper (WARPWATCH_DISABLE). */
void lookup_disable(void);

#endif
