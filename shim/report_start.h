/* Starts `warpwatch report` at a normal exit. */
#ifndef WARPWATCH_REPORT_START_H
#define WARPWATCH_REPORT_START_H

#include <stdbool.h>

enum report_outcome {
    REPORT_WRITTEN,
    REPORT_NOT_WANTED,
    REPORT_CONFINED,   /* the process may not be one that may start another */
    REPORT_NO_COMMAND, /* not found beside the library */
    REPORT_FAILED,     /* it could not be started, or ended with an error */
    REPORT_UNDER_WAY   /* it takes longer than an exit may */
};

/* Writes <final path>.txt and kin for a store, by the formats of WARPWATCH_REPORT. */
enum report_outcome report_start(const char *library, const char *store_path, const char *final_path,
                                 bool confined);

#endif
