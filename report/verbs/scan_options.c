/* The options of warpwatch scan. */
#include "scan_options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "cli.h"

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
    "  -o FILE               write there instead of stdout\n"
    "\n"
    "  --compare OTHER       what changed in FILE against OTHER, an earlier build of the same kernels\n"
    "  --fail-on CONDITION   with --compare: exit status 1 if a kernel meets it; may be given several "
    "times.\n"
    "                        registers, static_shared, stack, barriers or occupancy, then > or <, then a "
    "number:\n"
    "                        'registers>+8' or 'registers>+10%' is a change, 'stack>0' and 'occupancy<0.5' "
    "are not\n";

enum option_number {
    OPTION_ARCH = 256,
    OPTION_DEVICE,
    OPTION_KERNEL,
    OPTION_BLOCK,
    OPTION_DYNAMIC_SHARED,
    OPTION_TOP,
    OPTION_FORMAT,
    OPTION_COMPARE,
    OPTION_FAIL_ON
};

static const struct option long_options[] = {
    {"arch", required_argument, NULL, OPTION_ARCH},
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"kernel", required_argument, NULL, OPTION_KERNEL},
    {"block", required_argument, NULL, OPTION_BLOCK},
    {"dynamic-shared", required_argument, NULL, OPTION_DYNAMIC_SHARED},
    {"top", required_argument, NULL, OPTION_TOP},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"compare", required_argument, NULL, OPTION_COMPARE},
    {"fail-on", required_argument, NULL, OPTION_FAIL_ON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

static bool set_arch(struct scan_command *command, const char *text)
{
    if (!scan_parse_arch(text, &command->options.sm, &command->options.variant)) {
        cli_complain("--arch '%s': give an architecture as sm_90, 90 or 9.0, or sm_90a for that variant",
                     text);
        return false;
    }
    return true;
}

static bool set_device(struct scan_command *command, const char *name)
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

static bool set_kernel(struct scan_command *command, const char *pattern)
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

static bool set_format(struct scan_command *command, const char *name)
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

static bool set_top(struct scan_command *command, const char *text)
{
    int64_t value;
    if (!cli_integer("--top", text, 0, INT32_MAX, &value)) {
        return false;
    }
    command->view.top = value ? (size_t)value : SIZE_MAX;
    return true;
}

static bool add_condition(struct scan_command *command, const char *text)
{
    if (command->conditions_count == SCAN_CONDITIONS_MOST) {
        cli_complain("--fail-on '%s': at most %d conditions", text, SCAN_CONDITIONS_MOST);
        return false;
    }
    if (!scan_condition_parse(text, &command->conditions[command->conditions_count])) {
        cli_complain(
            "--fail-on '%s': give a figure (registers, static_shared, stack, barriers, occupancy), > or <, "
            "and a number; +8, -8 and +10%% are changes",
            text);
        return false;
    }
    command->conditions_count++;
    return true;
}

static bool apply_option(struct scan_command *command, int option)
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
    case OPTION_COMPARE:
        command->compare = optarg;
        return true;
    case OPTION_FAIL_ON:
        return add_condition(command, optarg);
    case 'o':
        command->output = optarg;
        return true;
    default:
        cli_complain("scan: unknown option or missing value; see warpwatch scan --help");
        return false;
    }
}

static bool check(const struct scan_command *command, int files)
{
    if (files == 0) {
        cli_complain("scan: which FILE? see warpwatch scan --help");
        return false;
    }
    if (command->compare && files != 1) {
        cli_complain("--compare '%s': give one FILE to compare with it", command->compare);
        return false;
    }
    if (command->conditions_count && !command->compare) {
        cli_complain("--fail-on '%s': only with --compare", command->conditions[0].text);
        return false;
    }
    return true;
}

int scan_command_parse(struct scan_command *command, int argc, char **argv)
{
    *command = (struct scan_command){.format = &scan_format_text, .view = {.top = 20}};
    command->view.options = &command->options;
    command->view.question = &command->question;
    command->options.progress = true;
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
    command->files = argv + optind;
    return check(command, argc - optind) ? SCAN_COMMAND_GO_ON : EXIT_USAGE;
}

void scan_command_free(struct scan_command *command)
{
    if (command->options.kernel) {
        regfree(&command->kernel);
    }
}
