/* warpwatch scan: kernels of binaries with their resources and the occupancy they can reach. docs/scan.md */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report/scan/paths.h"
#include "report/scan/scan.h"
#include "report/scan/view.h"
#include "verbs.h"
#include "verbs/catalog.h"

static const char help[] =
    "usage: warpwatch scan [options] FILE...\n"
    "\n"
    "Lists every kernel in executables, libraries, objects, archives, fat binaries, cubins and PTX, and in\n"
    "directories of these, with registers, shared memory, stack and launch bounds, and says what occupancy "
    "it\n"
    "can reach. Needs no GPU.\n"
    "\n"
    "  --arch SM             only this architecture: sm_90, 90, 9.0; sm_90a for exactly that variant\n"
    "  --device NAME         only what that GPU would load, judged on it (names: warpwatch devices)\n"
    "  --kernel REGEX        only kernels whose mangled or full name matches\n"
    "  --block N             judge at N threads a block (fewer where the kernel's bounds say so), instead "
    "of\n"
    "                        at each kernel's best block size\n"
    "  --dynamic-shared B    bytes of dynamic shared memory a block to assume (default 0)\n"
    "  --top N               kernels in the list of the text (default 20, 0 = all)\n"
    "  --format F            text, json or csv\n"
    "  -o FILE               write there instead of stdout\n";

struct command {
    struct scan_options options;
    struct scan_question question;
    struct scan_view view;
    const struct scan_format *format;
    const char *output;
    regex_t kernel;
};

enum option_number {
    OPTION_ARCH = 256,
    OPTION_DEVICE,
    OPTION_KERNEL,
    OPTION_BLOCK,
    OPTION_DYNAMIC_SHARED,
    OPTION_TOP,
    OPTION_FORMAT
};

static const struct option long_options[] = {
    {"arch", required_argument, NULL, OPTION_ARCH},
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"kernel", required_argument, NULL, OPTION_KERNEL},
    {"block", required_argument, NULL, OPTION_BLOCK},
    {"dynamic-shared", required_argument, NULL, OPTION_DYNAMIC_SHARED},
    {"top", required_argument, NULL, OPTION_TOP},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

static bool set_arch(struct command *command, const char *text)
{
    if (!scan_parse_arch(text, &command->options.sm, &command->options.variant)) {
        cli_complain("--arch '%s': give an architecture as sm_90, 90 or 9.0, or sm_90a for that variant",
                     text);
        return false;
    }
    return true;
}

static bool set_device(struct command *command, const char *name)
{
    const struct device *device = catalog_take("--device", name);
    if (!device) {
        return false;
    }
    command->view.device = device->product;
    command->options.device_capability = device->compute_capability;
    command->question.device_capability = device->compute_capability;
    return true;
}

static bool set_kernel(struct command *command, const char *pattern)
{
    if (command->options.kernel) {
        regfree(&command->kernel);
    }
    int error = regcomp(&command->kernel, pattern, REG_EXTENDED | REG_NOSUB);
    if (error) {
        char why[128];
        regerror(error, &command->kernel, why, sizeof why);
        cli_complain("--kernel '%s': %s", pattern, why);
        command->options.kernel = NULL;
        return false;
    }
    command->options.kernel = &command->kernel;
    return true;
}

static bool set_format(struct command *command, const char *name)
{
    static const struct scan_format *const formats[] = {&scan_format_text, &scan_format_json,
                                                        &scan_format_csv};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i]->name, name) == 0) {
            command->format = formats[i];
            return true;
        }
    }
    cli_complain("--format '%s': give text, json or csv", name);
    return false;
}

static bool set_number(const char *option, const char *text, int least, int most, int *number)
{
    int64_t value;
    if (!cli_integer(option, text, least, most, &value)) {
        return false;
    }
    *number = (int)value;
    return true;
}

static bool set_top(struct command *command, const char *text)
{
    int64_t value;
    if (!cli_integer("--top", text, 0, INT32_MAX, &value)) {
        return false;
    }
    command->view.top = value ? (size_t)value : SIZE_MAX;
    return true;
}

static bool apply_option(struct command *command, int option)
{
    switch (option) {
    case OPTION_ARCH:
        return set_arch(command, optarg);
    case OPTION_DEVICE:
        return set_device(command, optarg);
    case OPTION_KERNEL:
        return set_kernel(command, optarg);
    case OPTION_BLOCK:
        return set_number("--block", optarg, 1, 1024, &command->question.block);
    case OPTION_DYNAMIC_SHARED:
        return set_number("--dynamic-shared", optarg, 0, 1 << 20, &command->question.dynamic_shared_bytes);
    case OPTION_TOP:
        return set_top(command, optarg);
    case OPTION_FORMAT:
        return set_format(command, optarg);
    case 'o':
        command->output = optarg;
        return true;
    default:
        cli_complain("scan: unknown option or missing value; see warpwatch scan --help");
        return false;
    }
}

/* -1: go on; else the exit status. */
static int parse(struct command *command, int argc, char **argv)
{
    opterr = 0;
    optind = 1;
    for (int option; (option = getopt_long(argc, argv, "ho:", long_options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return EXIT_OK;
        }
        if (!apply_option(command, option)) {
            return EXIT_USAGE;
        }
    }
    if (optind == argc) {
        cli_complain("scan: which FILE? see warpwatch scan --help");
        return EXIT_USAGE;
    }
    return -1;
}

/* Whether the file could be read. One in a directory that holds no device code is passed over in silence. */
static bool scan_one(struct command *command, const struct scan_path *path)
{
    struct scan_file file;
    const char *why = scan_file_read(path->name, &command->options, &file);
    bool empty = file.counts.cubins + file.counts.ptx + file.counts.lto == 0 && file.undecodable_count == 0;
    if (path->in_directory && (why || empty)) {
        scan_file_free(&file);
        return !why;
    }
    if (why) {
        cli_complain("file '%s': %s", path->name, why);
    } else {
        command->format->file(&command->view, &file);
        command->view.files++;
    }
    scan_file_free(&file);
    return !why;
}

static int scan_all(struct command *command, char **names)
{
    struct scan_paths paths;
    size_t readable = 0;
    scan_paths_collect(names, &paths);
    struct cli_output *output = paths.count ? cli_output_open(command->output) : NULL;
    if (!output) {
        scan_paths_free(&paths);
        return EXIT_UNREADABLE;
    }
    command->view.stream = cli_output_stream(output);
    command->format->begin(&command->view);
    for (size_t i = 0; i < paths.count; i++) {
        readable += scan_one(command, &paths.at[i]);
    }
    command->format->end(&command->view);
    scan_paths_free(&paths);
    bool written = cli_output_close(output);
    return readable > 0 && written ? EXIT_OK : EXIT_UNREADABLE;
}

int verb_scan(int argc, char **argv)
{
    struct command command = {.format = &scan_format_text, .view = {.top = 20}};
    command.view.options = &command.options;
    command.view.question = &command.question;
    command.options.progress = true;
    int status = parse(&command, argc, argv);
    if (status < 0) {
        status = scan_all(&command, argv + optind);
    }
    if (command.options.kernel) {
        regfree(&command.kernel);
    }
    return status;
}
