/* The loader: its own lookup functions past every interposer, and where this library stands in lookup order.
 */
#ifndef WARPWATCH_LOADER_H
#define WARPWATCH_LOADER_H

#include "platform.h"

/* Addresses of the loader's dlsym and dlvsym; NULL if there are none. */
void *loader_dlsym(void);
void *loader_dlvsym(void);
/* Calls of them. */
void *loader_symbol(void *library, const char *name);
void *loader_version(void *library, const char *name, const char *version);

/* The next definition of a name after this library in the program's lookup order; NULL if there is none. */
void *loader_after_us(const char *name);
void *loader_version_after_us(const char *name, const char *version);
/* What the program would find without this library, and without another copy of it: the loader's own answer,
 * which leaves its own error. */
void *loader_without_us(const char *name);

/* Is it an address in this library? */
bool loader_is_ours(const void *address);
/* Does the library stand before the C library, as one that was preloaded does? */
bool loader_is_preloaded(void);
/* Is another copy of the library ahead in lookup order? That one counts. */
bool loader_has_copy_before_us(void);
/* Before us in lookup order: the program itself, and libraries preloaded ahead. Is the name defined there? Is
 * the address? */
bool loader_defined_before_us(const char *name);
bool loader_is_before_us(const void *address);

#endif
