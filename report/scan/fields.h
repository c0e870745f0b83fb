/* The fields of a kernel in one table, which JSON and CSV walk. */
#ifndef WARPWATCH_SCAN_FIELDS_H
#define WARPWATCH_SCAN_FIELDS_H

#include "judge.h"

struct scan_row {
    const struct scan_kernel *kernel;
    const struct scan_verdict *verdict;
    const char *name; /* full, demangled */
    char arch[SCAN_ARCH_BYTES];
};

enum scan_kind { SCAN_TEXT, SCAN_NUMBER, SCAN_FRACTION, SCAN_TRIPLE, SCAN_BLOCKS, SCAN_LIMITERS };

struct scan_value {
    bool known;
    union {
        const char *text;
        uint32_t number;
        double fraction;
        const uint32_t *triple;
        const struct scan_blocks *blocks;
        unsigned limiters;
    };
};

struct scan_field {
    const char *name;
    enum scan_kind kind;
    bool with_block; /* only where a block size was asked for */
    void (*get)(const struct scan_row *row, struct scan_value *value);
};
extern const struct scan_field scan_fields[];
extern const size_t scan_fields_count;

#endif
