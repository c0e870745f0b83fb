/* Messages, strict numbers, safe output files and progress for every verb. */
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Arguments and file contents reach these messages: a terminal must not obey them. */
static void write_visible(FILE *stream, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c < 0x20 || *c == 0x7f) {
            fprintf(stream, "\\x%02x", *c);
        } else {
            fputc(*c, stream);
        }
    }
}

void cli_complain(const char *format, ...)
{
    char *message = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&message, format, arguments);
    va_end(arguments);
    fputs("warpwatch: ", stderr);
    write_visible(stderr, length < 0 ? "out of memory" : message);
    fputc('\n', stderr);
    if (length >= 0) {
        free(message);
    }
}

bool cli_integer(const char *option, const char *text, int64_t least, int64_t most, int64_t *value)
{
    char *end;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    if (end == text || *end || errno || parsed < least || parsed > most) {
        cli_complain("%s '%s': give a whole number from %lld to %lld", option, text, (long long)least,
                     (long long)most);
        return false;
    }
    *value = parsed;
    return true;
}

bool cli_number(const char *option, const char *text, double least, double most, double *value)
{
    char *end;
    errno = 0;
    double parsed = strtod(text, &end);
    if (end == text || *end || errno || !isfinite(parsed) || parsed < least || parsed > most) {
        cli_complain("%s '%s': give a number from %g to %g", option, text, least, most);
        return false;
    }
    *value = parsed;
    return true;
}

static void complain_about_option(int argc, char **argv, bool missing)
{
    const char *word = optind > 0 && optind <= argc ? argv[optind - 1] : "";
    char letter[3] = {'-', (char)optopt, '\0'};
    bool is_long = strncmp(word, "--", 2) == 0 || !(optopt > ' ' && optopt < 127);
    if (missing) {
        cli_complain("%s %s: needs a value; see warpwatch %s --help", argv[0], is_long ? word : letter,
                     argv[0]);
    } else {
        cli_complain("%s: no option '%s'; see warpwatch %s --help", argv[0], is_long ? word : letter,
                     argv[0]);
    }
}

int cli_option(int argc, char **argv, const char *shorts, const struct option *longs)
{
    char colon_first[32]; /* a leading ':' makes getopt tell a missing value from an unknown option */
    bool plus = shorts[0] == '+';
    snprintf(colon_first, sizeof colon_first, "%s:%s", plus ? "+" : "", shorts + plus);
    opterr = 0;
    int option = getopt_long(argc, argv, colon_first, longs, NULL);
    if (option != '?' && option != ':') {
        return option;
    }
    complain_about_option(argc, argv, option == ':');
    return '?';
}

struct cli_output {
    FILE *stream;
    char *path; /* NULL: stdout */
    char *temporary;
};

static void output_free(struct cli_output *output)
{
    free(output->path);
    free(output->temporary);
    free(output);
}

/* /dev/stdout, devices and pipes; not what someone else put at the report's name, which is replaced. */
static bool is_written_directly(const char *path)
{
    struct stat named, status;
    return lstat(path, &named) == 0 && (named.st_uid == geteuid() || named.st_uid == 0) &&
           stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

struct cli_output *cli_output_open(const char *path)
{
    struct cli_output *output = calloc(1, sizeof *output);
    if (!output) {
        cli_complain("output: out of memory");
        return NULL;
    }
    if (!path || strcmp(path, "-") == 0) {
        output->stream = stdout;
        return output;
    }
    bool plain = !is_written_directly(path);
    output->path = strdup(path);
    if (!output->path || (plain && asprintf(&output->temporary, "%s.XXXXXX", path) < 0)) {
        cli_complain("output '%s': out of memory", path);
        output_free(output);
        return NULL;
    }
    if (plain) {
        int fd = mkstemp(output->temporary);
        output->stream = fd < 0 ? NULL : fdopen(fd, "w");
    } else {
        output->stream = fopen(path, "w");
    }
    if (!output->stream) {
        cli_complain("output '%s': %s", path, strerror(errno));
        output_free(output);
        return NULL;
    }
    return output;
}

FILE *cli_output_stream(struct cli_output *output)
{
    return output->stream;
}

bool cli_output_close(struct cli_output *output)
{
    bool failed = ferror(output->stream) != 0;
    if (!output->path) {
        failed = fflush(output->stream) != 0 || failed;
    } else {
        failed = fclose(output->stream) != 0 || failed;
        failed = failed || (output->temporary && rename(output->temporary, output->path) != 0);
    }
    if (failed) {
        int error = errno;
        if (output->temporary) {
            unlink(output->temporary);
        }
        cli_complain("output '%s': %s", output->path ? output->path : "stdout", strerror(error));
    }
    output_free(output);
    return !failed;
}

void cli_output_discard(struct cli_output *output)
{
    if (output->path) {
        fclose(output->stream);
    }
    if (output->temporary) {
        unlink(output->temporary);
    }
    output_free(output);
}

static struct {
    struct timespec first;
    bool started, shown;
} progress;

void cli_progress(const char *doing, uint64_t done, uint64_t total)
{
    struct timespec now;
    if (!isatty(STDERR_FILENO)) {
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!progress.started) {
        progress.started = true;
        progress.first = now;
    }
    double seconds =
        (double)(now.tv_sec - progress.first.tv_sec) + 1e-9 * (double)(now.tv_nsec - progress.first.tv_nsec);
    if (seconds < 0.5) {
        return;
    }
    progress.shown = true;
    fprintf(stderr, "\r%s %llu/%llu\033[K", doing, (unsigned long long)done, (unsigned long long)total);
    fflush(stderr);
}

void cli_progress_end(void)
{
    if (progress.shown) {
        fputs("\r\033[K", stderr);
    }
    progress.started = progress.shown = false;
}
