/* warpwatch report: reads stores, merges them, judges, and writes one view of the result. */
#include <errno.h>
#include <getopt.h>
#include <langinfo.h>
#include <locale.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"
#include "findings/findings.h"
#include "store/judge.h"
#include "store/ranks.h"
#include "store/store.h"
#include "verbs.h"
#include "views/select.h"
#include "views/views.h"

static const char usage[] =
    "usage: warpwatch report [options] [PATH…]\n\n"
    "Reads stores (files, or directories with all their stores) and says which launches waste the GPU.\n"
    "Without PATH: the directory in WARPWATCH_OUTPUT, else the current one.\n\n"
    "  --format F      text (default), json, csv or html\n"
    "  -o FILE         write there instead of to stdout\n"
    "  --kernel REGEX  only kernels whose name matches (extended regular expression)\n"
    "  --sort FIELD    order of kernels and shapes: name, launches, waves, … (default: most waste first)\n"
    "  --top N         at most N kernels\n"
    "  --device NAME   judge the same launches on another GPU as well: see warpwatch devices\n\n"
    "Exit status: 0; 2 for a wrong option; 3 if nothing was readable.\n";

typedef bool view_function(const struct merged *merged, const struct view_options *options, FILE *out);
static const struct {
    const char *name;
    view_function *write;
} formats[] = {{"text", view_text}, {"json", view_json}, {"csv", view_csv}, {"html", view_html}};
#define FORMATS (sizeof formats / sizeof *formats)

struct request {
    view_function *write;
    const char *output, *sort, *device;
    regex_t kernel;
    bool kernel_given;
    uint32_t top;
    const char *const *paths;
    size_t paths_count;
};

/* --- options ---------------------------------------------------------------------------------------------
 */

static bool take_format(struct request *request, const char *name)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i].name, name) == 0) {
            request->write = formats[i].write;
            return true;
        }
    }
    cli_complain("--format '%s': give text, json, csv or html", name);
    return false;
}

static bool take_kernel(struct request *request, const char *pattern)
{
    if (request->kernel_given) {
        regfree(&request->kernel);
        request->kernel_given = false;
    }
    int error = regcomp(&request->kernel, pattern, REG_EXTENDED | REG_NOSUB);
    if (error) {
        char reason[120];
        regerror(error, &request->kernel, reason, sizeof reason);
        cli_complain("--kernel '%s': %s; give an extended regular expression", pattern, reason);
        return false;
    }
    request->kernel_given = true;
    return true;
}

static bool take_sort(struct request *request, const char *field)
{
    request->sort = field;
    if (select_sortable(field)) {
        return true;
    }
    char *accepted = select_sortable_list();
    cli_complain("--sort '%s': give one of %s", field, accepted ? accepted : "the numeric fields");
    free(accepted);
    return false;
}

static bool take_option(struct request *request, int option)
{
    int64_t number;
    switch (option) {
    case 'f':
        return take_format(request, optarg);
    case 'o':
        request->output = optarg;
        return true;
    case 'k':
        return take_kernel(request, optarg);
    case 's':
        return take_sort(request, optarg);
    case 'd':
        request->device = optarg;
        return true;
    case 't':
        if (!cli_integer("--top", optarg, 1, 1000000000, &number)) {
            return false;
        }
        request->top = (uint32_t)number;
        return true;
    default:
        return false; /* getopt has complained */
    }
}

/* EXIT_OK with *done unset: go on. */
static int read_options(struct request *request, int argc, char **argv, bool *done)
{
    static const struct option options[] = {
        {"format", required_argument, NULL, 'f'}, {"output", required_argument, NULL, 'o'},
        {"kernel", required_argument, NULL, 'k'}, {"sort", required_argument, NULL, 's'},
        {"top", required_argument, NULL, 't'},    {"device", required_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},         {0}};
    int option;
    optind = 0;
    while ((option = cli_option(argc, argv, "o:h", options)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            *done = true;
            return EXIT_OK;
        }
        if (!take_option(request, option)) {
            return EXIT_USAGE;
        }
    }
    request->paths = (const char *const *)argv + optind;
    request->paths_count = (size_t)(argc - optind);
    return EXIT_OK;
}

/* --- stores ----------------------------------------------------------------------------------------------
 */

static void complain_about_store(const char *path, const char *reason)
{
    cli_complain("store '%s': %s", path, reason);
}

static int add_stores(struct merged *merged, const struct store_sources *sources)
{
    size_t readable = 0;
    for (size_t i = 0; i < sources->count; i++) {
        char reason[STORE_REASON_BYTES];
        cli_progress("reading stores", i, sources->count);
        if (merged_add_store(merged, sources->paths[i], reason)) {
            readable++;
        } else {
            cli_progress_end();
            complain_about_store(sources->paths[i], reason);
        }
    }
    cli_progress_end();
    return readable ? EXIT_OK : EXIT_UNREADABLE;
}

static int read_stores(const struct request *request, struct merged *merged)
{
    const char *fallback = getenv("WARPWATCH_OUTPUT");
    fallback = fallback && *fallback ? fallback : ".";
    struct store_sources sources;
    if (!store_sources_find(&sources, request->paths_count ? request->paths : &fallback,
                            request->paths_count ? request->paths_count : 1, complain_about_store)) {
        cli_complain("report: out of memory");
        return EXIT_UNREADABLE;
    }
    int status = add_stores(merged, &sources);
    store_sources_free(&sources);
    for (uint32_t i = 0; i < merged->processes_count; i++) {
        if (merged->processes[i].damage) {
            complain_about_store(merged->processes[i].path, merged->processes[i].damage);
        }
    }
    return status;
}

/* --- report ----------------------------------------------------------------------------------------------
 */

static unsigned terminal_columns(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col < 80) {
        return 80;
    }
    return size.ws_col < 120 ? size.ws_col : 120;
}

static struct view_options view_options_for(const struct request *request)
{
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool on_terminal = !request->output && isatty(STDOUT_FILENO);
    setlocale(LC_CTYPE, "");
    return (struct view_options){
        .top = request->top,
        .colour = on_terminal && !(no_colour && *no_colour) && terminal && strcmp(terminal, "dumb") != 0,
        .unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
        .columns = on_terminal ? terminal_columns(STDOUT_FILENO) : 80,
    };
}

static bool prepare(const struct request *request, struct merged *merged)
{
    if (!merged_finish(merged)) {
        return false;
    }
    judge_all(merged);
    return merged_select(merged, request->kernel_given ? &request->kernel : NULL, request->sort) &&
           ranks_compare(merged) && findings_compute(merged);
}

static int write_report(const struct request *request, struct merged *merged)
{
    struct view_options options = view_options_for(request);
    if (!prepare(request, merged)) {
        cli_complain("report: out of memory");
        return EXIT_UNREADABLE;
    }
    struct cli_output *output = cli_output_open(request->output);
    if (!output) {
        return EXIT_USAGE;
    }
    bool held = request->write(merged, &options, cli_output_stream(output));
    if (!held) {
        cli_complain("report: out of memory");
    }
    return cli_output_close(output) && held ? EXIT_OK : EXIT_UNREADABLE;
}

static int report(const struct request *request)
{
    struct merged *merged = merged_new();
    if (!merged) {
        cli_complain("report: out of memory");
        return EXIT_UNREADABLE;
    }
    int status = EXIT_OK;
    if (request->device && !(merged->elsewhere = judge_device_named(merged, request->device))) {
        cli_complain("--device '%s': not a GPU that warpwatch knows; warpwatch devices lists them",
                     request->device);
        status = EXIT_USAGE;
    }
    status = status ? status : read_stores(request, merged);
    status = status ? status : write_report(request, merged);
    merged_free(merged);
    return status;
}

int verb_report(int argc, char **argv)
{
    struct request request = {.write = view_text, .top = MERGED_NONE};
    bool done = false;
    int status = read_options(&request, argc, argv, &done);
    if (status == EXIT_OK && !done) {
        status = report(&request);
    }
    if (request.kernel_given) {
        regfree(&request.kernel);
    }
    return status;
}
