/* All GPUs that options may name: the built-in table, and those that a JSON file adds (docs/devices.md). */
#ifndef WARPWATCH_CATALOG_H
#define WARPWATCH_CATALOG_H

#include <stdbool.h>
#include <stddef.h>

#include "model/devices.h"

/* Adds the devices of `path`; NULL: of the file that WARPWATCH_DEVICES names, if it names one. A device of
 * the file goes before a built-in one of the same name. Complains and returns false if the file is no good.
 */
bool catalog_load(const char *path);

size_t catalog_count(void);
const struct device *catalog_at(size_t index); /* the built-in ones first */

/* By name or product, as device_find does. NULL: none. */
const struct device *catalog_find(const char *name);

/* The device that an option names, WARPWATCH_DEVICES read first; NULL after a complaint. */
const struct device *catalog_take(const char *option, const char *name);

#endif
