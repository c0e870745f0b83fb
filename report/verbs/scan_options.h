/* What the command line of warpwatch scan asks for. */
#ifndef WARPWATCH_SCAN_OPTIONS_H
#define WARPWATCH_SCAN_OPTIONS_H

#include "report/scan/compare.h"
#include "report/scan/view.h"

#define SCAN_CONDITIONS_MOST 16

struct scan_command {
    struct scan_options options;
    struct scan_question question;
    struct scan_view view;
    const struct scan_format *format;
    const char *output; /* NULL: stdout */
    const char *compare;
    struct scan_condition conditions[SCAN_CONDITIONS_MOST];
    size_t conditions_count;
    char **files; /* ends with NULL */
    regex_t kernel;
};

#define SCAN_COMMAND_GO_ON (-1)
/* SCAN_COMMAND_GO_ON, else the exit status; complains. */
int scan_command_parse(struct scan_command *command, int argc, char **argv);
void scan_command_free(struct scan_command *command);

#endif
