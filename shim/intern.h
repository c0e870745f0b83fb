/* Texts that are kept for the life of the process, each once: names of kernels that the driver cannot name,
 * files that code came from. Wants the recorder's lock for writing; a text, once there, may be read at any
 * time. */
#ifndef WARPWATCH_INTERN_H
#define WARPWATCH_INTERN_H

#include <stdint.h>

/* A number for the text; 0 for NULL, "" and when memory for texts is used up. */
uint32_t intern(const char *text);
/* "" for 0. */
const char *interned(uint32_t number);

#endif
