/* Kernels that reach least, with what would help. Those that differ in nothing but their names share one line
 * of figures; it fits a terminal of 80 columns. */
#include "view_list.h"

#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "report/model/lift.h"
#include "report/names/demangle.h"

static void print_number(FILE *stream, int width, bool known, uint32_t number)
{
    if (known) {
        fprintf(stream, "%*u", width, number);
    } else {
        fprintf(stream, "%*s", width, "-");
    }
}

/* "=128" is required, "<=128" the launch bound, "128" what was asked for or the best size. */
static const char *sign_of_block(const struct scan_view *view, const struct scan_kernel *kernel)
{
    if (kernel->valid & CUBIN_HAS_REQUIRED_BLOCK) {
        return "=";
    }
    return kernel->valid & CUBIN_HAS_MAX_THREADS && !view->question->block ? "<=" : "";
}

static void print_block(const struct scan_view *view, const struct scan_judged *judged)
{
    char text[16] = "-";
    if (judged->verdict.known) {
        snprintf(text, sizeof text, "%s%u", sign_of_block(view, judged->kernel), judged->verdict.block);
    }
    fprintf(view->stream, "%8s", text);
}

static void print_figures(const struct scan_view *view, const struct scan_judged *judged)
{
    FILE *stream = view->stream;
    const struct scan_kernel *kernel = judged->kernel;
    const struct scan_verdict *verdict = &judged->verdict;
    bool known = scan_has_resources(kernel);
    char arch[SCAN_ARCH_BYTES], limiters[LIMITERS_TEXT_BYTES] = "-";
    scan_format_arch(kernel, arch);
    if (verdict->known) {
        limiters_text(verdict->occupancy.limiters, limiters);
        fprintf(stream, "  %7.1f %%", 100 * verdict->occupancy.theoretical_occupancy);
    } else {
        fprintf(stream, "  %9s", "unknown");
    }
    print_block(view, judged);
    print_number(stream, 6, kernel->valid & CUBIN_HAS_REGISTERS, kernel->registers_per_thread);
    print_number(stream, 8, known, kernel->static_shared_bytes);
    print_number(stream, 7, kernel->valid & CUBIN_HAS_STACK, kernel->stack_bytes);
    print_number(stream, 6, known, kernel->barriers);
    fprintf(stream, "  %-7s  %s%s\n", arch, limiters, kernel->origin == ORIGIN_PRELINK ? " (pre-link)" : "");
}

/* The smallest change that lets one more block reside; false where none does. */
static bool find_lift(const struct scan_view *view, const struct scan_judged *judged, struct lift *lift)
{
    struct occupancy_sm sm;
    struct lift lifts[LIFTS_MAX];
    const struct scan_kernel *kernel = judged->kernel;
    int capability = view->question->device_capability ? view->question->device_capability : (int)kernel->sm;
    struct occupancy_launch launch = {
        .threads = (int)judged->verdict.block,
        .registers_per_thread = (int)kernel->registers_per_thread,
        .static_shared_bytes = (int)kernel->static_shared_bytes,
        .dynamic_shared_bytes = view->question->dynamic_shared_bytes,
        .barriers = (int)kernel->barriers,
        .carveout_percent = -1,
        .max_dynamic_shared_bytes = -1,
    };
    if (!judged->verdict.known || !occupancy_sm_of_capability(capability, &sm) ||
        lift_limits(&sm, &launch, lifts) == 0) {
        return false;
    }
    *lift = lifts[0];
    return lift->helps;
}

/* Sizes people use that do as well as the one that is judged, where the kernel leaves the choice. */
static unsigned other_blocks(const struct scan_view *view, const struct scan_judged *judged,
                             uint16_t blocks[SCAN_BLOCKS_MOST])
{
    static const uint16_t usual[] = {64, 128, 256, 512, 1024};
    const struct scan_blocks *best = &judged->verdict.best_blocks;
    unsigned count = 0;
    bool bound = judged->kernel->valid & (CUBIN_HAS_MAX_THREADS | CUBIN_HAS_REQUIRED_BLOCK);
    for (uint32_t i = 0; i < best->count && judged->verdict.known && !bound && !view->question->block; i++) {
        for (size_t k = 0; k < sizeof usual / sizeof *usual; k++) {
            if (best->threads[i] == usual[k] && usual[k] != judged->verdict.block) {
                blocks[count++] = usual[k];
            }
        }
    }
    return count;
}

/* "-> registers to 128: 2 blocks, 25.0 %; 64 and 128 threads do as well" */
static void print_advice(const struct scan_view *view, const struct scan_judged *judged)
{
    struct lift lift;
    uint16_t blocks[SCAN_BLOCKS_MOST];
    unsigned count = other_blocks(view, judged, blocks);
    bool lifted = find_lift(view, judged, &lift);
    if (!lifted && count == 0) {
        return;
    }
    fputs("      ->", view->stream);
    for (int i = 0; lifted && i < lift.changes_count; i++) {
        fprintf(view->stream, "%s %s to %d", i ? " and" : "", lift_names[lift.changes[i].what],
                lift.changes[i].to);
    }
    if (lifted) {
        fprintf(view->stream, ": %d blocks, %.1f %%%s", lift.blocks_per_sm, 100 * lift.theoretical_occupancy,
                count ? ";" : "");
    }
    for (unsigned i = 0; i < count; i++) {
        fprintf(view->stream, "%s %u", i == 0 ? "" : i + 1 == count ? " and" : ",", blocks[i]);
    }
    fprintf(view->stream, "%s\n", count ? " threads do as well" : "");
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static char **short_names(const struct scan_judged *judged, size_t count)
{
    char **names = malloc(count * sizeof *names);
    for (size_t i = 0; names && i < count; i++) {
        names[i] = demangle_short(judged[i].kernel->mangled);
        if (!names[i]) {
            names[i] = strdup("?");
        }
        if (!names[i]) {
            while (i > 0) {
                free(names[--i]);
            }
            free(names);
            return NULL;
        }
    }
    if (names) {
        qsort(names, count, sizeof *names, by_text);
    }
    return names;
}

/* Up to *rows different names, each with the number of kernels that go by it. Kernels covered. */
static size_t print_names(FILE *stream, char **names, size_t count, size_t *rows)
{
    size_t at = 0;
    while (at<count && * rows> 0) {
        size_t same = 1;
        while (at + same < count && strcmp(names[at], names[at + same]) == 0) {
            same++;
        }
        fputs("      ", stream);
        print_visible(stream, names[at]);
        if (same > 1) {
            print_count(stream, " (%s kernels)", same);
        }
        fputc('\n', stream);
        at += same;
        --*rows;
    }
    return at;
}

/* The kernels from `judged` on that differ in nothing but their names. Kernels covered, 0: out of memory. */
static size_t print_group(const struct scan_view *view, const struct scan_judged *judged, size_t count,
                          size_t *rows)
{
    size_t alike = 1;
    while (alike < count && scan_same_resources(&judged[0], &judged[alike])) {
        alike++;
    }
    char **names = short_names(judged, alike);
    if (!names) {
        return 0;
    }
    print_figures(view, judged);
    size_t covered = print_names(view->stream, names, alike, rows);
    print_advice(view, judged);
    for (size_t i = 0; i < alike; i++) {
        free(names[i]);
    }
    free(names);
    return covered;
}

void scan_list_print(const struct scan_view *view, const struct scan_summary *summary)
{
    size_t at = 0, rows = view->top, covered = 1;
    fputs("\n  occupancy   block  regs  shared  stack  barr  arch     limited by\n", view->stream);
    while (at < summary->judged_count && rows > 0 && covered > 0) {
        covered = print_group(view, &summary->judged[at], summary->judged_count - at, &rows);
        at += covered;
    }
    if (covered == 0) {
        fputs("  out of memory\n", view->stream);
    } else if (at < summary->judged_count) {
        print_count(view->stream, "  ... and %s more kernels: --top 0 lists all, --kernel narrows\n",
                    summary->judged_count - at);
    }
}
