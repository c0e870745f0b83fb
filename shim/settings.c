/* Reads the WARPWATCH_ variables. A wrong value is described now and said at the first launch, so that
 * processes that never launch stay silent. */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decimal.h"

struct settings settings;

static void complain(const char *variable, const char *accepted)
{
    uint32_t most = sizeof settings.problems / sizeof *settings.problems;
    if (settings.problem_count < most) {
        snprintf(settings.problems[settings.problem_count++], sizeof *settings.problems,
                 "%s: not understood, it takes %s; the default is used", variable, accepted);
    }
}

static bool read_switch(const char *variable, bool otherwise)
{
    const char *value = getenv(variable);
    if (value == NULL || value[0] == '\0') {
        return otherwise;
    }
    if ((value[0] == '0' || value[0] == '1') && value[1] == '\0') {
        return value[0] == '1';
    }
    complain(variable, "0 or 1");
    return otherwise;
}

static uint64_t read_megabytes(const char *variable, uint64_t otherwise, uint64_t most)
{
    const char *value = getenv(variable);
    if (value == NULL || value[0] == '\0') {
        return otherwise << 20;
    }
    uint64_t number = decimal_or(value, most, 0);
    if (number >= 1) {
        return number << 20;
    }
    complain(variable, "a number of megabytes from 1 to 900");
    return otherwise << 20;
}

/* Relative paths mean the directory in which the program was started; "" if that is gone. False: too long. */
static bool resolve_directory(const char *value, char path[PATH_MAX])
{
    bool is_relative = value[0] && value[0] != '/', is_here = strcmp(value, ".") == 0;
    if (is_relative && getcwd(path, PATH_MAX) == NULL) {
        path[0] = '\0';
        return true;
    }
    size_t used = is_relative ? strlen(path) : 0, bytes = is_here ? 0 : strlen(value);
    if (is_relative && !is_here) {
        path[used++] = '/';
    }
    if (used + bytes >= PATH_MAX) {
        return false;
    }
    memcpy(path + used, value, bytes);
    path[used + bytes] = '\0';
    return true;
}

static void read_directory(const char *variable, const char *otherwise, char path[PATH_MAX])
{
    const char *value = getenv(variable);
    if (!resolve_directory(value && value[0] ? value : otherwise, path)) {
        complain(variable, "a directory name of at most 4,095 characters");
        resolve_directory(otherwise, path);
    }
}

static void read_text(const char *variable, const char *otherwise, char *text, size_t size)
{
    const char *value = getenv(variable);
    value = value && value[0] ? value : otherwise;
    if (strlen(value) >= size) {
        complain(variable, "a shorter text");
        value = otherwise;
    }
    memcpy(text, value, strlen(value) + 1);
}

static bool report_is_known(const char *formats)
{
    static const char *const known[] = {"text", "json", "csv", "html", "none"};
    for (const char *start = formats;;) {
        size_t bytes = strcspn(start, ","), i = 0;
        while (i < 5 && !(strlen(known[i]) == bytes && memcmp(known[i], start, bytes) == 0)) {
            i++;
        }
        if (i == 5) {
            return false;
        }
        if (start[bytes] == '\0') {
            return true;
        }
        start += bytes + 1;
    }
}

/* Not for people: a wrong value is none. */
static uint32_t read_run(void)
{
    return (uint32_t)decimal_or(getenv("WARPWATCH_RUN"), UINT32_MAX, 0);
}

void settings_read(void)
{
    settings = (struct settings){0};
    settings.disabled = read_switch("WARPWATCH_DISABLE", false);
    settings.quiet = read_switch("WARPWATCH_QUIET", false);
    settings.timing_nodes = read_switch("WARPWATCH_TIMING_NODES", false);
    settings.timing = read_switch("WARPWATCH_TIMING", false) || settings.timing_nodes;
    settings.counters = read_switch("WARPWATCH_COUNTERS", false);
    settings.trace = read_switch("WARPWATCH_TRACE", false);
    settings.run = read_run();
    settings.trace_bytes = read_megabytes("WARPWATCH_TRACE_MB", 256, 900);
    settings.times = read_switch("WARPWATCH_TIMES", true) || settings.trace;
    read_directory("WARPWATCH_OUTPUT", ".", settings.output);
    read_directory("WARPWATCH_LIVE", "", settings.live);
    read_text("WARPWATCH_FILTER", "", settings.filter, sizeof settings.filter);
    read_text("WARPWATCH_REPORT", "text", settings.report, sizeof settings.report);
    if (!report_is_known(settings.report)) {
        complain("WARPWATCH_REPORT", "text, json, csv, html (several, comma-separated) or none");
        strcpy(settings.report, "text");
    }
}
