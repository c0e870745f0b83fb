/* Values of the field table as JSON, in full and never NaN. */
#ifndef WARPWATCH_JSON_TEXT_H
#define WARPWATCH_JSON_TEXT_H

#include "buffer.h"
#include "fields.h"

/* Quoted and escaped; what is not UTF-8 is made so. */
void json_string(struct buffer *text, const char *string);

void json_value(struct buffer *text, const struct merged *merged, const struct value *value);

/* All fields of the record; `open`: without the closing brace, for what follows inside. */
void json_object(struct buffer *text, const struct merged *merged, enum record record, const void *it,
                 bool open);

#endif
