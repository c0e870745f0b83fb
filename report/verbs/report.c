/* warpwatch report: the options of a report. */
#include <getopt.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "report_make.h"
#include "verbs.h"
#include "verbs/catalog.h"
#include "views/select.h"

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

struct options {
    struct report_request request;
    regex_t kernel; /* set where request.kernel points to it */
};

/* --- options ---------------------------------------------------------------------------------------------
 */

static void forget_kernel(struct options *options)
{
    if (options->request.kernel) {
        regfree(&options->kernel);
        options->request.kernel = NULL;
    }
}

static bool take_kernel(struct options *options, const char *pattern)
{
    forget_kernel(options);
    int error = regcomp(&options->kernel, pattern, REG_EXTENDED | REG_NOSUB);
    if (error) {
        char reason[120];
        regerror(error, &options->kernel, reason, sizeof reason);
        cli_complain("--kernel '%s': %s; give an extended regular expression", pattern, reason);
        return false;
    }
    options->request.kernel = &options->kernel;
    return true;
}

static bool take_sort(struct report_request *request, const char *field)
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

static bool take_option(struct options *options, int option)
{
    struct report_request *request = &options->request;
    int64_t number;
    switch (option) {
    case 'f':
        request->format = report_format_named("--format", optarg);
        return request->format != NULL;
    case 'o':
        request->output = optarg;
        return true;
    case 'k':
        return take_kernel(options, optarg);
    case 's':
        return take_sort(request, optarg);
    case 'd':
        request->device = catalog_take("--device", optarg);
        return request->device != NULL;
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
static int read_options(struct options *options, int argc, char **argv, bool *done)
{
    static const struct option longs[] = {
        {"format", required_argument, NULL, 'f'}, {"output", required_argument, NULL, 'o'},
        {"kernel", required_argument, NULL, 'k'}, {"sort", required_argument, NULL, 's'},
        {"top", required_argument, NULL, 't'},    {"device", required_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},         {0}};
    int option;
    optind = 0;
    while ((option = cli_option(argc, argv, "o:h", longs)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            *done = true;
            return EXIT_OK;
        }
        if (!take_option(options, option)) {
            return EXIT_USAGE;
        }
    }
    options->request.paths = (const char *const *)argv + optind;
    options->request.paths_count = (size_t)(argc - optind);
    return EXIT_OK;
}

int verb_report(int argc, char **argv)
{
    struct options options = {
        .request = {.format = report_format_named("--format", "text"), .stream = stdout, .top = MERGED_NONE}};
    bool done = false;
    int status = read_options(&options, argc, argv, &done);
    if (status == EXIT_OK && !done) {
        status = report_make(&options.request);
    }
    forget_kernel(&options);
    return status;
}
