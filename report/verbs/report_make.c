/* Reads stores, merges them, judges, and writes one view of the result. */
#include "report_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"
#include "findings/findings.h"
#include "store/images.h"
#include "store/judge.h"
#include "store/ranks.h"
#include "store/store.h"
#include "views/select.h"

static const struct report_format formats[] = {{"text", "txt", view_text},
                                               {"json", "json", view_json},
                                               {"csv", "csv", view_csv},
                                               {"html", "html", view_html}};

const struct report_format *report_format_named(const char *option, const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].name, name) == 0) {
            return &formats[i];
        }
    }
    cli_complain("%s '%s': give text, json, csv or html", option, name);
    return NULL;
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

static int read_stores(const struct report_request *request, struct merged *merged)
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

/* By the variables alone: in containers the locale that they name is often not installed. */
static bool environment_says_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value && *value) {
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
        }
    }
    return false;
}

static struct view_options view_options_for(const struct report_request *request)
{
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool on_terminal = !request->output && isatty(fileno(request->stream));
    return (struct view_options){
        .top = request->top,
        .chosen = request->kernel != NULL,
        .colour = on_terminal && !(no_colour && *no_colour) && terminal && strcmp(terminal, "dumb") != 0,
        .unicode = environment_says_utf8(),
        .columns = on_terminal ? terminal_columns(fileno(request->stream)) : 80,
    };
}

static bool prepare(const struct report_request *request, struct merged *merged)
{
    if (!merged_finish(merged)) {
        return false;
    }
    judge_all(merged);
    if (images_look_up(merged)) {
        judge_all(merged);
    }
    return merged_select(merged, request->kernel, request->sort) && ranks_compare(merged) &&
           findings_compute(merged);
}

static bool stream_flush(FILE *stream)
{
    if (fflush(stream) == 0 && !ferror(stream)) {
        return true;
    }
    cli_complain("output: %s", strerror(errno));
    return false;
}

static int write_report(const struct report_request *request, struct merged *merged)
{
    struct view_options options = view_options_for(request);
    if (!prepare(request, merged)) {
        cli_complain("report: out of memory");
        return EXIT_UNREADABLE;
    }
    struct cli_output *output = request->output ? cli_output_open(request->output) : NULL;
    if (request->output && !output) {
        return EXIT_USAGE;
    }
    bool held =
        request->format->write(merged, &options, output ? cli_output_stream(output) : request->stream);
    if (!held) {
        cli_complain("report: out of memory");
    }
    bool written = output ? cli_output_close(output) : stream_flush(request->stream);
    return written && held ? EXIT_OK : EXIT_UNREADABLE;
}

int report_make(const struct report_request *request)
{
    struct merged *merged = merged_new();
    if (!merged) {
        cli_complain("report: out of memory");
        return EXIT_UNREADABLE;
    }
    int status = EXIT_OK;
    if (request->device && !(merged->elsewhere = judge_listed_device(merged, request->device))) {
        cli_complain("report: out of memory");
        status = EXIT_UNREADABLE;
    }
    status = status ? status : read_stores(request, merged);
    status = status ? status : write_report(request, merged);
    merged_free(merged);
    return status;
}
