/* What every verb shares: messages in one form, numbers read strictly, output to a file or stdout, progress.
 */
#ifndef WARPWATCH_CLI_H
#define WARPWATCH_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { EXIT_OK = 0, EXIT_USAGE = 2, EXIT_UNREADABLE = 3 };

/* `warpwatch: <what> <which>: <why>` on stderr, in one line; control characters of arguments are made
 * visible. */
void cli_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Decimal integer in [least, most]; otherwise complains with the option's name and the range and returns
 * false. */
bool cli_integer(const char *option, const char *text, int64_t least, int64_t most, int64_t *value);
bool cli_number(const char *option, const char *text, double least, double most, double *value);

/* getopt_long with messages in this form; '?' after one. `shorts` may begin with '+' (stop at the first word
 * that is no option). argv[0] is the verb. Set optind to 0 before the first call. */
struct option;
int cli_option(int argc, char **argv, const char *shorts, const struct option *longs);

/* A verb's entry: argv[0] is the verb. Returns the exit status. */
typedef int verb_function(int argc, char **argv);

/* Opens `path` for writing (NULL or "-": stdout), complains and returns NULL on failure. Written beside and
 * renamed by cli_output_close, so that a failed run leaves no half file; close reports a full disk. */
struct cli_output;
struct cli_output *cli_output_open(const char *path);
FILE *cli_output_stream(struct cli_output *output);
bool cli_output_close(struct cli_output *output);
/* Leaves nothing behind: for output that turned out to be no good. */
void cli_output_discard(struct cli_output *output);

/* A progress line on a terminal's stderr, first shown after half a second; nothing elsewhere. */
void cli_progress(const char *doing, uint64_t done, uint64_t total);
void cli_progress_end(void);

#endif
