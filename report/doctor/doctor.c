/* The list of findings. */
#include "doctor.h"

#include <stdarg.h>
#include <stdio.h>

void doctor_add(struct doctor *doctor, enum doctor_level level, const char *subject, const char *way_out,
                const char *format, ...)
{
    if (doctor->count == sizeof doctor->lines / sizeof *doctor->lines) {
        return;
    }
    struct doctor_line *line = &doctor->lines[doctor->count++];
    line->level = level;
    line->way_out = way_out;
    snprintf(line->subject, sizeof line->subject, "%s", subject);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line->found, sizeof line->found, format, arguments);
    va_end(arguments);
}
