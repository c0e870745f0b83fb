/* The head: what ran where, how much was launched, what it cost to watch and what was not seen. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "findings/words.h"
#include "names/visible.h"
#include "text.h"

/* The first launches find everything cold: of a few, the cost says nothing. */
enum { SAMPLES_LEAST = 8 };

static void write_visible(const struct page *page, enum style style, const char *text, unsigned lines)
{
    char *shown = visible(text);
    if (shown) {
        page_paragraph(page, style, 0, "", shown, lines);
    }
    free(shown);
}

static void write_start(const struct page *page, const struct merged_process *process)
{
    time_t seconds = (time_t)(process->start_realtime_ns / 1000000000u);
    struct tm parts;
    char text[40];
    if (process->start_realtime_ns && localtime_r(&seconds, &parts) &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts)) {
        page_print(page, PLAIN, "%s · ", text);
    }
}

static double longest_seconds(const struct merged *merged)
{
    double longest = 0;
    for (uint32_t i = 0; i < merged->processes_count; i++) {
        longest = merged->processes[i].seconds > longest ? merged->processes[i].seconds : longest;
    }
    return longest;
}

static void write_command(const struct page *page, const struct merged *merged)
{
    const struct merged_process *first = &merged->processes[0];
    write_visible(page, STRONG, first->command[0] ? first->command : "(command not known)", 2);
    for (uint32_t i = 1; i < merged->processes_count; i++) {
        if (strcmp(merged->processes[i].command, first->command) != 0) {
            page_text(page, PLAIN, "and other commands");
            page_end(page);
            break;
        }
    }
    write_start(page, first);
    if (longest_seconds(merged) > 0) {
        page_print(page, PLAIN, "%s · ", DURATION(longest_seconds(merged) * 1e9));
    }
    if (merged->processes_count > 1) {
        page_print(page, PLAIN, "%s on %s", PLURAL(merged->processes_count, "process"),
                   PLURAL(merged->hosts_count, "host"));
    } else {
        page_print(page, PLAIN, "process %u on ", first->pid);
        char *host = visible(first->host);
        page_text(page, PLAIN, host ? host : "");
        free(host);
        page_print(page, PLAIN, "%s",
                   first->state == PROCESS_RUNNING ? " · still running"
                   : first->state == PROCESS_ENDED ? " · ended without closing its store"
                                                   : "");
    }
    page_end(page);
}

/* Equal devices share a line. */
static void write_devices(const struct page *page, const struct merged *merged)
{
    for (uint32_t i = 0; i < merged->devices_count; i++) {
        const struct store_device *limits = &merged->devices[i].limits;
        uint32_t equal = 0, before = 0;
        for (uint32_t j = 0; j < merged->devices_count && j < 4096; j++) {
            bool same = strcmp(merged->devices[j].limits.name, limits->name) == 0 &&
                        merged->devices[j].limits.sms == limits->sms;
            equal += same;
            before += same && j < i;
        }
        if (before > 0) {
            continue;
        }
        char *name = visible(limits->name);
        if (equal > 1) {
            page_print(page, PLAIN, "%u × ", equal);
        }
        page_print(page, PLAIN, "%s", name ? name : "");
        free(name);
        if (limits->valid & 1u) {
            page_print(page, PLAIN, " · %u SMs", limits->sms);
        }
        if (limits->valid >> 2 & 1) {
            page_print(page, PLAIN, " × %s threads", COUNT(limits->max_threads_per_sm));
        }
        page_end(page);
    }
}

static void write_totals(const struct page *page, const struct merged *merged)
{
    const struct merged_totals *totals = &merged->totals;
    page_end(page);
    page_print(page, STRONG, "%s", PLURAL(totals->launches, "launch"));
    page_print(page, PLAIN, " of %s in %s", PLURAL(totals->kernels, "kernel"),
               PLURAL(totals->configurations, "configuration"));
    if (totals->graph_launches) {
        page_print(page, PLAIN, ", %s by graph replay", COUNT(totals->graph_launches));
    }
    page_end(page);
}

static void write_times(const struct page *page, const struct merged_totals *totals)
{
    if (totals->times_known && totals->launch_call_ns) {
        page_print(page, PLAIN, "Launch calls took %s of the threads' time",
                   DURATION((double)totals->launch_call_ns));
        page_end(page);
    }
}

/* Behind what was or was not lost. Launches that are new to their thread cost more than the rest; of those, a
 * few that were timed say nothing. */
static void write_cost(const struct page *page, const struct merged_totals *totals)
{
    bool usual_known = totals->hook_samples >= SAMPLES_LEAST;
    if (usual_known) {
        page_print(page, PLAIN, "Watching cost %s a launch",
                   DURATION((double)totals->hook_ns / (double)totals->hook_samples));
    }
    if (totals->hook_new) {
        page_print(page, PLAIN,
                   usual_known ? "; new ones, %s in all" : "Watching new launches cost %s in all",
                   DURATION((double)totals->hook_new_ns));
    } else if (!usual_known) {
        page_text(page, PLAIN, "What watching cost was not measured");
    }
    page_text(page, PLAIN, ".");
    page_end(page);
}

static void write_measured(const struct page *page, const struct merged_totals *totals)
{
    const struct {
        uint64_t launches;
        const char *by;
    } parts[] = {{totals->measured.timing, "by timing"},
                 {totals->measured.set_a, "by counter set A"},
                 {totals->measured.set_b, "by counter set B"}};
    const char *between = "Measured: ";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].launches) {
            page_print(page, PLAIN, "%s%s %s", between, PLURAL(parts[i].launches, "launch"), parts[i].by);
            between = ", ";
        }
    }
    page_print(page, PLAIN,
               strcmp(between, ", ") == 0 ? "; that took %s." : "Measured: no launch; trying took %s.",
               DURATION((double)totals->measuring_ns));
    page_end(page);
}

static void write_measuring(const struct page *page, const struct merged_totals *totals)
{
    if (totals->measuring_known) {
        write_measured(page, totals);
    }
    if (totals->graphs.gpu_ns_count) {
        page_print(page, PLAIN, "Graph replays took %s of GPU time, %s each (median).",
                   DURATION((double)totals->graphs.gpu_ns_total),
                   DURATION((double)totals->graphs.gpu_ns_median));
        page_end(page);
    }
}

/* The first reason that a process gave. */
static const char *lost_because(const struct merged *merged)
{
    static const char *const reasons[] = {[STORE_LOSS_NO_SPACE] = ", for want of disk space",
                                          [STORE_LOSS_NO_MEMORY] = ", for want of memory",
                                          [STORE_LOSS_LIMIT] = ", beyond a limit of the library"};
    for (uint32_t i = 0; i < merged->processes_count; i++) {
        unsigned reason = merged->processes[i].lost_reason;
        if (merged->processes[i].lost && reason > STORE_LOSS_NONE && reason <= STORE_LOSS_LIMIT) {
            return reasons[reason];
        }
    }
    return "";
}

static void write_unseen(const struct page *page, const struct merged *merged)
{
    const struct merged_totals *totals = &merged->totals;
    if (!totals->lost && !totals->uncounted && !totals->further && !totals->filtered && !merged->damaged) {
        page_text(page, PLAIN, "Nothing was lost. ");
        return;
    }
    if (totals->lost) {
        page_print(page, BAD, "Lost: %s seen but not recorded%s.", PLURAL(totals->lost, "launch"),
                   lost_because(merged));
        page_end(page);
    }
    if (totals->uncounted) {
        page_print(page, FAIR, "Not counted: %s that launched kernels out of the host's sight.",
                   PLURAL(totals->uncounted, "request"));
        page_end(page);
    }
    if (totals->further) {
        page_print(page, FAIR, "Not told apart: %s beyond the limit of configurations.",
                   PLURAL(totals->further, "launch"));
        page_end(page);
    }
    if (totals->filtered) {
        page_print(page, FAIR, "Left out by WARPWATCH_FILTER: %s, counted without their shapes.",
                   PLURAL(totals->filtered, "launch"));
        page_end(page);
    }
    if (merged->damaged) {
        page_print(page, BAD, "Damaged: %s, read as far as possible.", PLURAL(merged->damaged, "store"));
        page_end(page);
    }
}

static bool any_simulated(const struct merged *merged)
{
    for (uint32_t i = 0; i < merged->devices_count; i++) {
        if (merged->devices[i].simulated) {
            return true;
        }
    }
    return false;
}

void text_head(const struct page *page, const struct merged *merged)
{
    if (merged->processes_count > 0) {
        write_command(page, merged);
    }
    write_devices(page, merged);
    if (any_simulated(merged)) {
        page_text(page, FAIR, "A simulated device: the launches are real, no kernel was executed.");
        page_end(page);
    }
    write_totals(page, merged);
    write_times(page, &merged->totals);
    write_unseen(page, merged);
    write_cost(page, &merged->totals);
    write_measuring(page, &merged->totals);
}
