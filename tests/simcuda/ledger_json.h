/* Reading a ledger file, and writing it as the JSON that others rely on. */
#ifndef SIMCUDA_LEDGER_JSON_H
#define SIMCUDA_LEDGER_JSON_H

#include "ledger_format.h"

#include <stdbool.h>
#include <stddef.h>

#define LEDGER_PATH_BYTES 4096

struct ledger {
    char path[LEDGER_PATH_BYTES];
    const char *base;
    size_t bytes;
    const struct ledger_header *header;
};

/* Maps the file at ledger->path; false if it is no ledger, or not one yet. */
bool ledger_open(struct ledger *ledger);
void ledger_close(struct ledger *ledger);

/* `ledger` NULL: no process used the driver. False, with errno, if the file could not be written. */
bool ledger_write_json(const char *path, const struct ledger *ledger);

#endif
