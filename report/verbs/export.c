/* warpwatch export: the traces of stores as one timeline. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "export/formats.h"
#include "store/store.h"
#include "verbs.h"

static const char usage[] =
    "usage: warpwatch export [--format F] [-o FILE] [PATH…]\n\n"
    "Writes every launch of a traced run as a timeline: open it in ui.perfetto.dev.\n"
    "A run is traced by warpwatch run --trace, or with WARPWATCH_TRACE=1.\n"
    "PATH: stores, or directories with all their stores; else WARPWATCH_OUTPUT or the current directory.\n\n"
    "  --format F   perfetto (default) or chrome: JSON, for chrome://tracing and scripts\n"
    "  -o FILE      write there instead of to stdout\n\n"
    "Exit status: 0; 2 for a wrong option; 3 if there was nothing to export.\n";

struct request {
    const struct trace_format *format;
    const char *output;
    const char *const *paths;
    size_t paths_count;
};

struct exported {
    struct trace_writer writer;
    uint32_t *pids; /* of the processes so far */
    uint32_t processes;
    uint64_t epoch_ns;
    bool failed; /* out of memory */
};

static void complain_about_store(const char *path, const char *reason)
{
    cli_complain("store '%s': %s", path, reason);
}

/* --- one process --------------------------------------------------------------------------------------- */

/* Viewers take one number for one process: of a second rank with the same, the number is made up. */
static uint32_t unique_pid(const struct exported *exported, uint32_t pid)
{
    enum { NUMBERS_OF_LINUX = 1 << 22 };
    for (uint32_t i = 0; i < exported->processes; i++) {
        if (exported->pids[i] == pid) {
            return NUMBERS_OF_LINUX + exported->processes;
        }
    }
    return pid ? pid : NUMBERS_OF_LINUX + exported->processes;
}

static void say_what_is_missing(const struct trace *trace, const char *path)
{
    if (trace->lost) {
        cli_complain("store '%s': the trace had no room for %" PRIu64 " of %" PRIu64
                     " launches, the oldest; WARPWATCH_TRACE_MB gives it more (256 if not set)",
                     path, trace->lost, trace->lost + trace->launches);
    }
    if (trace->file.header.lost) {
        cli_complain("store '%s': %" PRIu64 " launches could not be recorded at all", path,
                     trace->file.header.lost);
    }
    if (trace->file.damages) {
        complain_about_store(path, trace->file.damage);
    }
}

static void add_trace(struct exported *exported, struct trace *trace, const char *path)
{
    trace->process = exported->processes;
    trace->pid = unique_pid(exported, trace->pid);
    trace->epoch_ns = exported->epoch_ns;
    exported->pids[exported->processes++] = trace->pid;
    if (trace_writer_process(&exported->writer, trace)) {
        say_what_is_missing(trace, path);
    } else {
        exported->failed = true;
    }
}

static void add_store(struct exported *exported, const char *path)
{
    struct trace trace;
    char reason[STORE_REASON_BYTES];
    if (!trace_open(&trace, path, reason)) {
        complain_about_store(path, reason);
        return;
    }
    if (trace_is_kept(&trace)) {
        add_trace(exported, &trace, path);
    } else {
        complain_about_store(path, "no trace in it; warpwatch run --trace or WARPWATCH_TRACE=1 keeps one");
    }
    trace_close(&trace);
}

/* --- all of them --------------------------------------------------------------------------------------- */

/* When the first process began: what times count from. */
static uint64_t earliest_ns(const struct store_sources *sources)
{
    uint64_t earliest = UINT64_MAX;
    for (size_t i = 0; i < sources->count; i++) {
        struct store_file file;
        char reason[STORE_REASON_BYTES];
        if (!store_file_open(&file, sources->paths[i], reason)) {
            continue;
        }
        if (file.header_intact && file.header.start_realtime_ns < earliest) {
            earliest = file.header.start_realtime_ns;
        }
        store_file_close(&file);
    }
    return earliest == UINT64_MAX ? 0 : earliest;
}

static int export_all(const struct request *request, const struct store_sources *sources, FILE *out)
{
    struct exported exported = {.pids = calloc(sources->count + 1, sizeof *exported.pids),
                                .epoch_ns = earliest_ns(sources)};
    exported.failed = exported.pids == NULL;
    trace_writer_begin(&exported.writer, request->format, out);
    for (size_t i = 0; i < sources->count && !exported.failed; i++) {
        cli_progress("exporting", i, sources->count);
        add_store(&exported, sources->paths[i]);
    }
    cli_progress_end();
    exported.failed |= !trace_writer_end(&exported.writer);
    free(exported.pids);
    if (exported.failed) {
        cli_complain("export: out of memory");
    }
    return exported.failed || exported.processes == 0 ? EXIT_UNREADABLE : EXIT_OK;
}

static int export_sources(const struct request *request, const struct store_sources *sources)
{
    if (!request->output && request->format == &trace_format_perfetto && isatty(STDOUT_FILENO)) {
        cli_complain("export: a Perfetto trace is no text for a terminal; give -o FILE, or --format chrome");
        return EXIT_USAGE;
    }
    struct cli_output *output = cli_output_open(request->output);
    if (!output) {
        return EXIT_USAGE;
    }
    int status = export_all(request, sources, cli_output_stream(output));
    if (status != EXIT_OK) {
        cli_output_discard(output);
        return status;
    }
    return cli_output_close(output) ? EXIT_OK : EXIT_UNREADABLE;
}

static int export_paths(const struct request *request)
{
    const char *fallback = getenv("WARPWATCH_OUTPUT");
    fallback = fallback && *fallback ? fallback : ".";
    struct store_sources sources;
    if (!store_sources_find(&sources, request->paths_count ? request->paths : &fallback,
                            request->paths_count ? request->paths_count : 1, complain_about_store)) {
        cli_complain("export: out of memory");
        return EXIT_UNREADABLE;
    }
    int status = EXIT_UNREADABLE;
    if (sources.count) {
        status = export_sources(request, &sources);
    }
    store_sources_free(&sources);
    return status;
}

/* --- options ------------------------------------------------------------------------------------------- */

static bool take_format(struct request *request, const char *name)
{
    request->format = trace_format_named(name);
    if (!request->format) {
        cli_complain("--format '%s': give perfetto or chrome", name);
    }
    return request->format != NULL;
}

int verb_export(int argc, char **argv)
{
    static const struct option longs[] = {{"format", required_argument, NULL, 'f'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    struct request request = {.format = &trace_format_perfetto};
    int option;
    optind = 0;
    while ((option = cli_option(argc, argv, "o:h", longs)) != -1) {
        switch (option) {
        case 'f':
            if (!take_format(&request, optarg)) {
                return EXIT_USAGE;
            }
            break;
        case 'o':
            request.output = optarg;
            break;
        case 'h':
            fputs(usage, stdout);
            return EXIT_OK;
        default:
            return EXIT_USAGE;
        }
    }
    request.paths = (const char *const *)argv + optind;
    request.paths_count = (size_t)(argc - optind);
    return export_paths(&request);
}
