/* Records that are written once: kernels and configurations, found again by content, so that a program which
 * loads and unloads the same code for ever does not make the store grow. All functions want the recorder's
 * lock. */
#ifndef WARPWATCH_RECORDS_H
#define WARPWATCH_RECORDS_H

#include "platform.h"
#include "store.h"

enum { RECORDS_MOST_CONFIGURATIONS = 65536, RECORDS_MOST_KERNELS = 65536 };

void records_close(void);
/* Index of the kernel of this name and these attributes (all but the strings of `kernel` are set). Beyond the
 * limit: the record that stands for the rest. STORE_NO_TARGET: no room. */
uint32_t records_kernel(const char *name, const char *image, const struct store_kernel *kernel);
/* STORE_NO_TARGET if there is none yet. */
uint32_t records_find_configuration(const struct store_configuration *configuration);
/* A text of the store, terminated, kept for good. */
const char *records_terminated_text(const struct store_string *string);
uint32_t records_add_configuration(const struct store_configuration *configuration);

#endif
