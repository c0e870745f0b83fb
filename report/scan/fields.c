/* The table of fields, made from fields.def. */
#include "fields.h"

#define FIELD(name_, kind_, when_, known_, value_)                                                           \
    static void get_##name_(const struct scan_row *row, struct scan_value *value)                            \
    {                                                                                                        \
        const struct scan_kernel *kernel = row->kernel;                                                      \
        const struct scan_verdict *verdict = row->verdict;                                                   \
        (void)kernel, (void)verdict;                                                                         \
        value->known = (known_) != 0;                                                                        \
        value->kind_ = (value_);                                                                             \
    }
#include "fields.def"
#undef FIELD

#define KIND_text       SCAN_TEXT
#define KIND_number     SCAN_NUMBER
#define KIND_fraction   SCAN_FRACTION
#define KIND_triple     SCAN_TRIPLE
#define KIND_blocks     SCAN_BLOCKS
#define KIND_limiters   SCAN_LIMITERS
#define WHEN_ALWAYS     false
#define WHEN_WITH_BLOCK true

const struct scan_field scan_fields[] = {
#define FIELD(name_, kind_, when_, known_, value_) {#name_, KIND_##kind_, WHEN_##when_, get_##name_},
#include "fields.def"
#undef FIELD
};
const size_t scan_fields_count = sizeof scan_fields / sizeof *scan_fields;
