/* The processes of a run, and the last lines. */
#include <stdlib.h>
#include <string.h>

#include "findings/words.h"
#include "names/visible.h"
#include "text.h"

enum { PROCESSES_SHOWN = 8 };

static void write_process(const struct page *page, const struct merged_process *process)
{
    char *host = visible(process->host);
    struct sentence rank = {"", 0}, pid = {"", 0};
    if (process->rank >= 0) {
        say(&rank, "%d", process->rank);
    }
    say(&pid, "%u", process->pid);
    page_right(page, PLAIN, 5, rank.text);
    page_space(page, 2);
    page_left(page, PLAIN, 20, host ? host : "");
    page_right(page, PLAIN, 10, pid.text);
    page_right(page, PLAIN, 16, COUNT(process->launches));
    page_right(page, PLAIN, 14, COUNT(process->graph_launches));
    page_space(page, 2);
    page_text(page, process->state == PROCESS_ENDED ? FAIR : PLAIN, process_state_names[process->state]);
    page_end(page);
    free(host);
    if (process->damage) {
        page_paragraph(page, BAD, 7, "", process->damage, 2);
    }
}

/* Those with something to say about themselves before those without. */
static bool is_troubled(const struct merged_process *process)
{
    return process->damage || process->lost || process->state == PROCESS_ENDED;
}

static uint32_t write_those(const struct page *page, const struct merged *merged, bool troubled,
                            uint32_t room)
{
    uint32_t written = 0;
    for (uint32_t i = 0; i < merged->processes_count && written < room; i++) {
        if (is_troubled(&merged->processes[i]) == troubled) {
            write_process(page, &merged->processes[i]);
            written++;
        }
    }
    return written;
}

void text_processes(const struct page *page, const struct merged *merged)
{
    if (merged->processes_count < 2) {
        if (merged->processes_count == 1 && merged->processes[0].damage) {
            page_end(page);
            page_paragraph(page, BAD, 0, "", merged->processes[0].damage, 2);
        }
        return;
    }
    page_heading(page, " RANK  HOST                       PID        LAUNCHES      BY GRAPH  STATE", "");
    uint32_t written = write_those(page, merged, true, PROCESSES_SHOWN);
    written += write_those(page, merged, false, PROCESSES_SHOWN - written);
    if (written < merged->processes_count) {
        page_print(page, FAINT, "       and %s: --format json lists all",
                   PLURAL(merged->processes_count - written, "more process"));
        page_end(page);
    }
}

enum { DEVICES_SHOWN = 16 };

/* Where a run spans several devices: how its launches spread over them, with the hosts they are in. */
void text_devices(const struct page *page, const struct merged *merged)
{
    if (merged->devices_count < 2) {
        return;
    }
    page_heading(page, " GPU  HOST                  LAUNCHES  NAME", "");
    for (uint32_t i = 0; i < merged->devices_count && i < DEVICES_SHOWN; i++) {
        const struct merged_device *device = &merged->devices[i];
        char *host = visible(device->host), *name = visible(device->limits.name);
        page_right(page, PLAIN, 4, device->ordinal_differs ? "" : COUNT(device->limits.ordinal));
        page_space(page, 2);
        page_left(page, PLAIN, 14, host ? host : "");
        page_right(page, PLAIN, 16, COUNT(device->launches));
        page_space(page, 2);
        page_fit(page, PLAIN, page->columns - 38, name ? name : "");
        page_end(page);
        free(host);
        free(name);
    }
    if (merged->devices_count > DEVICES_SHOWN) {
        page_print(page, FAINT, "      and %u more: --format json lists all",
                   merged->devices_count - DEVICES_SHOWN);
        page_end(page);
    }
}

static uint64_t measured_bits(const struct merged *merged)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < merged->configurations_count; i++) {
        bits |= merged->configurations[i].measured.valid;
    }
    return bits;
}

static void write_unmeasured(const struct page *page, bool times, bool counters)
{
    struct sentence text = {"", 0};
    if (times) {
        say(&text, "GPU time (warpwatch run --timing)");
    }
    if (counters) {
        say(&text, "%sachieved occupancy, divergence, memory access (warpwatch run --counters)",
            times ? "; " : "");
    }
    if (times || counters) {
        page_paragraph(page, FAINT, 14, "Not measured:", text.text, 3);
    }
}

void text_foot(const struct page *page, const struct merged *merged)
{
    uint64_t bits = measured_bits(merged);
    page_end(page);
    if (merged->kernels_count == 0) {
        page_text(page, PLAIN, merged->totals.launches ? "No kernel matches." : "No launch was recorded.");
        page_end(page);
        return;
    }
    write_unmeasured(page, !(bits & STORE_MEASURED_GPU_TIME), !(bits & ~(uint64_t)STORE_MEASURED_GPU_TIME));
    page_paragraph(page, FAINT, 14,
                   "More:", "warpwatch report --kernel REGEX, --top N, --format html -o FILE", 2);
}
