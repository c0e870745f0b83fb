/* The one table of what a report shows: JSON, CSV and text all read their values through it.
 *
 * A field has a name (JSON's), a column (CSV's, where it differs) and a way to get its value from a record. A
 * value is of a kind that every view knows how to write; what is unknown is VALUE_NONE and becomes null or
 * blank. */
#ifndef WARPWATCH_FIELDS_H
#define WARPWATCH_FIELDS_H

#include "store/merged.h"

enum record {
#define RECORD(record) RECORD_##record,
#define FIELD(record, name, column, value)
#include "fields.def"
#undef RECORD
#undef FIELD
};

enum value_kind {
    VALUE_NONE,
    VALUE_TEXT,
    VALUE_UNSIGNED,
    VALUE_SIGNED,
    VALUE_NUMBER,   /* finite */
    VALUE_FRACTION, /* a finite number from 0 to 1 */
    VALUE_BOOLEAN,
    VALUE_TRIPLE, /* x, y, z */
    VALUE_NAMES,  /* the set bits of `bits`, named by `names` */
    VALUE_OBJECT  /* the fields of another record */
};

struct value {
    enum value_kind kind;
    union {
        const char *text;
        uint64_t unsigned_number;
        int64_t signed_number;
        double number;
        bool truth;
        const uint32_t *triple;
        struct {
            unsigned bits, count;
            const char *const *names;
        } set;
        struct {
            enum record fields;
            const void *record;
        } object;
    };
};

/* Some values need room for their text. */
#define FIELD_TEXT_BYTES 64
typedef struct value field_getter(const struct merged *merged, const void *record,
                                  char text[FIELD_TEXT_BYTES]);

struct field {
    const char *name;
    const char *column; /* CSV's name; for an object the prefix of its members' names */
    field_getter *get;
};

/* The fields of a record, ended by one whose name is NULL. What the pointer given to `get` must be:
 * RECORD_process … RECORD_finding: struct merged_<that>; RECORD_further: struct merged_kernel; RECORD_limits,
 * gpu_ns, sources and elsewhere: struct merged_configuration. */
const struct field *fields_of(enum record record);
const struct field *field_named(enum record record, const char *name);

#endif
