/* warpwatch run: starts a program with the library preloaded, stays out of its way, and reports when it has
 * ended. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "library.h"
#include "report_make.h"
#include "run_child.h"
#include "run_stores.h"
#include "verbs.h"

static const char usage[] =
    "usage: warpwatch run [options] [--] CMD [ARGUMENTS…]\n\n"
    "Runs CMD with every kernel launch watched, in it and in all processes it starts, and reports at its "
    "end:\n"
    "on the terminal, or into a file that one line on stderr names.\n\n"
    "  -o DIR       stores and report go there (default: WARPWATCH_OUTPUT, else the current directory)\n"
    "  --format F   of the report's file: text (default), json, csv or html\n"
    "  --timing     GPU time of kernels, by CUPTI or, without it, by events\n"
    "  --counters   achieved occupancy, divergence and memory access, sampled by CUPTI\n"
    "  --trace      keep the order of launches, for warpwatch export\n\n"
    "Exit status: that of CMD, 128 + n if signal n ended it; 126 or 127 if it could not be started.\n";

struct run {
    const char *formats; /* names, comma-separated, or "none" */
    bool format_given;
    const char *directory;
    char **command;
};

/* --- options ---------------------------------------------------------------------------------------------
 */

static bool take_option(struct run *run, int option)
{
    switch (option) {
    case 'o':
        run->directory = optarg;
        return true;
    case 'f':
        run->formats = optarg;
        run->format_given = true;
        return report_format_named("--format", optarg) != NULL;
    case 'T':
        return setenv("WARPWATCH_TIMING", "1", 1) == 0;
    case 'C':
        return setenv("WARPWATCH_COUNTERS", "1", 1) == 0;
    case 'R':
        return setenv("WARPWATCH_TRACE", "1", 1) == 0;
    default:
        return false;
    }
}

static int read_options(struct run *run, int argc, char **argv, bool *done)
{
    static const struct option longs[] = {{"output", required_argument, NULL, 'o'},
                                          {"format", required_argument, NULL, 'f'},
                                          {"timing", no_argument, NULL, 'T'},
                                          {"counters", no_argument, NULL, 'C'},
                                          {"trace", no_argument, NULL, 'R'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    int option;
    optind = 0;
    while ((option = cli_option(argc, argv, "+o:h", longs)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            *done = true;
            return EXIT_OK;
        }
        if (!take_option(run, option)) {
            return EXIT_USAGE;
        }
    }
    if (optind == argc) {
        cli_complain("run: no command; see warpwatch run --help");
        return EXIT_USAGE;
    }
    run->command = argv + optind;
    return EXIT_OK;
}

/* --- environment -----------------------------------------------------------------------------------------
 */

/* Before what is preloaded already, so that wrappers of others come after and are still called. */
static bool preload(const char *library)
{
    const char *before = getenv("LD_PRELOAD");
    char *list;
    if (strpbrk(library, " :")) {
        cli_complain("library '%s': LD_PRELOAD cannot carry a path with a blank or a colon; install "
                     "warpwatch elsewhere",
                     library);
        return false;
    }
    if (asprintf(&list, "%s%s%s", library, before && *before ? ":" : "", before ? before : "") < 0) {
        return false;
    }
    bool set = setenv("LD_PRELOAD", list, 1) == 0;
    free(list);
    return set;
}

/* The directory for stores, made if missing, as an absolute path for programs that change theirs. */
static char *output_directory(const struct run *run)
{
    const char *variable = getenv("WARPWATCH_OUTPUT");
    const char *directory = run->directory ? run->directory : variable && *variable ? variable : ".";
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        cli_complain("directory '%s': %s", directory, strerror(errno));
        return NULL;
    }
    char *absolute = realpath(directory, NULL);
    if (!absolute || access(absolute, W_OK) != 0) {
        cli_complain("directory '%s': %s", directory, strerror(errno));
        free(absolute);
        return NULL;
    }
    return absolute;
}

static bool set_environment(const char *directory, uint32_t number)
{
    char *library = library_path(), run[16];
    snprintf(run, sizeof run, "%u", number);
    bool set = library && preload(library) && setenv("WARPWATCH_RUN", run, 1) == 0 &&
               setenv("WARPWATCH_OUTPUT", directory, 1) == 0 && setenv("WARPWATCH_REPORT", "none", 1) == 0;
    free(library);
    return set;
}

/* --- report ----------------------------------------------------------------------------------------------
 */

static bool is_quiet(void)
{
    const char *quiet = getenv("WARPWATCH_QUIET");
    return quiet && strcmp(quiet, "1") == 0;
}

/* On a terminal the report itself, else where its file is; what the program wrote stays alone on stdout. */
static void report(const struct run *run, const struct run_stores *stores, const struct report_format *format)
{
    char *file = run_stores_report_path(stores, format->suffix);
    struct report_request request = {.format = format,
                                     .output = file,
                                     .stream = stderr,
                                     .top = MERGED_NONE,
                                     .paths = (const char *const *)stores->paths,
                                     .paths_count = stores->count};
    if (file && report_make(&request) == EXIT_OK && !is_quiet()) {
        if (isatty(STDERR_FILENO) && !run->format_given && strcmp(format->name, "text") == 0) {
            request.output = NULL;
            report_make(&request);
        }
        cli_complain("report in %s", file);
    }
    free(file);
}

static void report_in_each(const struct run *run, const struct run_stores *stores)
{
    char *names = strdup(run->formats), *rest = names;
    for (char *name; names && (name = strsep(&rest, ","));) {
        const struct report_format *format =
            strcmp(name, "none") == 0 ? NULL : report_format_named("WARPWATCH_REPORT", name);
        if (format) {
            report(run, stores, format);
        }
    }
    free(names);
}

static void report_on(const struct run *run, struct run_stores *stores)
{
    if (!run_stores_find(stores)) {
        cli_complain("run: out of memory");
    } else if (stores->count > 0) {
        report_in_each(run, stores);
    } else if (!is_quiet()) {
        cli_complain("no kernel launch was seen");
    }
}

int verb_run(int argc, char **argv)
{
    const char *formats = getenv("WARPWATCH_REPORT");
    struct run run = {.formats = formats && *formats ? formats : "text"};
    bool done = false;
    int status = read_options(&run, argc, argv, &done);
    if (status != EXIT_OK || done) {
        return status;
    }
    char *directory = output_directory(&run);
    struct run_stores stores = {0};
    if (!directory || !run_stores_begin(&stores, directory) || !set_environment(directory, stores.number)) {
        status = EXIT_USAGE;
    } else {
        bool started;
        status = run_child(run.command, &started);
        if (started) {
            report_on(&run, &stores);
        }
    }
    run_stores_free(&stores);
    free(directory);
    return status;
}
