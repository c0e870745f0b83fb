/* warpwatch scan: kernels of binaries with their resources and the occupancy they can reach. docs/scan.md */
#include "cli.h"
#include "report/scan/paths.h"
#include "report/scan/view_compare.h"
#include "scan_options.h"
#include "verbs.h"

enum { EXIT_CONDITION_MET = 1 };

/* One in a directory that holds no device code is passed over in silence. */
static void scan_one(struct scan_command *command, const struct scan_path *path)
{
    struct scan_file file;
    const char *why = scan_file_read(path->name, &command->options, &file);
    command->view.readable += !why;
    if (path->directory && (why || scan_is_empty(&file))) {
        scan_file_free(&file);
        return;
    }
    if (why) {
        cli_complain("file '%s': %s", path->name, why);
    } else {
        command->view.directory = path->directory;
        command->format->file(&command->view, &file);
        command->view.files++;
    }
    scan_file_free(&file);
}

static int scan_paths(struct scan_command *command, const struct scan_paths *paths)
{
    struct cli_output *output = cli_output_open(command->output);
    if (!output) {
        return EXIT_UNREADABLE;
    }
    command->view.stream = cli_output_stream(output);
    command->format->begin(&command->view);
    for (size_t i = 0; i < paths->count; i++) {
        scan_one(command, &paths->at[i]);
    }
    command->format->end(&command->view);
    bool written = cli_output_close(output);
    return command->view.readable > 0 && written ? EXIT_OK : EXIT_UNREADABLE;
}

static int scan_all(struct scan_command *command)
{
    struct scan_paths paths;
    int status = EXIT_UNREADABLE;
    scan_paths_collect(command->files, &paths);
    if (paths.count) {
        status = scan_paths(command, &paths);
    } else if (!paths.faults) {
        cli_complain("directory '%s': no file in it", command->files[0]);
    }
    scan_paths_free(&paths);
    return status;
}

/* A gate must not hold because there was nothing to compare. */
static bool read_file(const struct scan_command *command, const char *path, struct scan_file *file)
{
    const char *why = scan_file_read(path, &command->options, file);
    if (!why && scan_is_empty(file)) {
        why = "no device code to compare";
    }
    if (why) {
        cli_complain("file '%s': %s", path, why);
    } else if (file->undecodable_count) {
        cli_complain("file '%s': compared without what cannot be decoded (%zu places)", path,
                     file->undecodable_count);
    }
    return !why;
}

static int show_comparison(const struct scan_command *command, const struct scan_comparison *comparison)
{
    struct cli_output *output = cli_output_open(command->output);
    if (!output) {
        return EXIT_UNREADABLE;
    }
    struct compare_view view = {
        .stream = cli_output_stream(output),
        .before = command->compare,
        .after = command->files[0],
        .comparison = comparison,
        .conditions = command->conditions,
        .conditions_count = command->conditions_count,
        .top = command->view.top,
    };
    command->format->compare(&view);
    if (!cli_output_close(output)) {
        return EXIT_UNREADABLE;
    }
    size_t failures = 0;
    for (size_t i = 0; i < command->conditions_count; i++) {
        failures += compare_failures(&view, &command->conditions[i]);
    }
    return failures ? EXIT_CONDITION_MET : EXIT_OK;
}

static int compare(const struct scan_command *command)
{
    struct scan_file before = {0}, after = {0};
    struct scan_comparison comparison = {0};
    int status = EXIT_UNREADABLE;
    if (read_file(command, command->compare, &before) && read_file(command, command->files[0], &after)) {
        if (scan_compare(&before, &after, &command->question, &comparison)) {
            status = show_comparison(command, &comparison);
        } else {
            cli_complain("--compare '%s': out of memory", command->compare);
        }
    }
    scan_comparison_free(&comparison);
    scan_file_free(&before);
    scan_file_free(&after);
    return status;
}

int verb_scan(int argc, char **argv)
{
    struct scan_command command;
    int status = scan_command_parse(&command, argc, argv);
    if (status == SCAN_COMMAND_GO_ON) {
        status = command.compare ? compare(&command) : scan_all(&command);
    }
    scan_command_free(&command);
    return status;
}
