/* What warpwatch would see in this environment and what not. Each check adds lines; nothing is started or
 * changed, and a driver is only asked for its devices. */
#ifndef WARPWATCH_DOCTOR_H
#define WARPWATCH_DOCTOR_H

#include <stddef.h>

enum doctor_level {
    DOCTOR_FINE,
    DOCTOR_NOTE,   /* works, but a person should know */
    DOCTOR_PROBLEM /* launches or figures would be missed */
};

struct doctor_line {
    enum doctor_level level;
    char subject[24];
    char found[512];
    const char *way_out; /* "" where none is needed */
};

struct doctor {
    struct doctor_line lines[64];
    size_t count;
};

void doctor_add(struct doctor *doctor, enum doctor_level level, const char *subject, const char *way_out,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

void doctor_check_library(struct doctor *doctor);
void doctor_check_preloads(struct doctor *doctor);
void doctor_check_output(struct doctor *doctor);
void doctor_check_driver(struct doctor *doctor);
void doctor_check_profilers(struct doctor *doctor);
void doctor_check_counters(struct doctor *doctor);
/* `name` is looked up on PATH unless it holds a slash. A script is followed to its interpreter. */
void doctor_check_program(struct doctor *doctor, const char *name);

#endif
