/* Text for people: what the file holds, sums, then the kernels that reach least, with what would help. */
#include <stdlib.h>
#include <string.h>

#include "report/model/lift.h"
#include "report/names/demangle.h"
#include "report/names/visible.h"
#include "summary.h"
#include "view.h"

/* 1,234,567 */
#define COUNT_BYTES 32
static const char *format_count(char text[COUNT_BYTES], uint64_t number)
{
    char digits[COUNT_BYTES];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    char *out = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *out++ = ',';
        }
        *out++ = digits[i];
    }
    *out = 0;
    return text;
}

static void print_count(FILE *stream, const char *format, uint64_t number)
{
    char text[COUNT_BYTES];
    fprintf(stream, format, format_count(text, number));
}

static void print_visible(FILE *stream, const char *text)
{
    char *safe = visible(text);
    fputs(safe ? safe : "?", stream);
    free(safe);
}

static void join_limiters(char *text, size_t size, unsigned limiters)
{
    size_t used = 0;
    text[0] = 0;
    for (unsigned i = 0; i < LIMITER_KINDS; i++) {
        if (limiters & 1u << i && used < size) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "+" : "", limiter_names[i]);
        }
    }
}

/* --- what is there ---------------------------------------------------------------------------------------
 */

static void print_contents(struct scan_view *view, const struct scan_file *file,
                           const struct scan_summary *summary)
{
    FILE *stream = view->stream;
    const struct scan_counts *counts = &file->counts;
    print_visible(stream, file->path);
    print_count(stream, ": %s kernels; entries: ", file->kernels_count);
    print_count(stream, "%s cubin, ", counts->cubins);
    print_count(stream, "%s PTX, ", counts->ptx);
    print_count(stream, "%s LTO-IR\n", counts->lto);
    if (counts->skipped) {
        print_count(stream, "  %s cubins are for other architectures or devices and were not read\n",
                    counts->skipped);
    }
    if (summary->prelink_copies) {
        print_count(stream, "  %s kernels are relocatable copies of linked ones and are left out below\n",
                    summary->prelink_copies);
    }
    if (summary->without_resources) {
        print_count(stream, "  %s kernels are PTX only: an assembler decides their resources at load time\n",
                    summary->without_resources);
    }
    if (counts->lto_only) {
        print_count(stream, "  %s containers hold LTO-IR only: their kernels come to be at link time\n",
                    counts->lto_only);
    }
    for (size_t i = 0; i < file->undecodable_count; i++) {
        fprintf(stream, "  undecodable at offset %llu: %s\n", (unsigned long long)file->undecodable[i].offset,
                file->undecodable[i].reason);
    }
}

/* --- sums ------------------------------------------------------------------------------------------------
 */

static void print_archs(FILE *stream, const struct scan_summary *summary)
{
    fputs("\n             registers/thread      with  shared/block   kernels that reach an occupancy of\n"
          "  arch       kernels  median  most  stack        most    <= 25%   <= 50%   <= 75%  <= 100%\n",
          stream);
    for (size_t i = 0; i < summary->archs_count; i++) {
        const struct scan_arch_summary *arch = &summary->archs[i];
        fprintf(stream, "  sm_%u%-*.1s", arch->sm, arch->sm < 100 ? 5 : 4,
                arch->variant ? &arch->variant : "");
        print_count(stream, "%10s", arch->kernels);
        fprintf(stream, "%8u%6u", arch->registers_median, arch->registers_most);
        print_count(stream, "%7s", arch->with_stack);
        print_count(stream, "%12s", arch->shared_most_bytes);
        fputs(" ", stream);
        for (int step = 0; step < SCAN_REACH_STEPS; step++) {
            print_count(stream, "%9s", arch->reach[step]);
        }
        fputc('\n', stream);
    }
}

static void print_limiters(const struct scan_view *view, const struct scan_summary *summary)
{
    FILE *stream = view->stream;
    if (view->question->block) {
        fprintf(stream, "\n  limited by (blocks of %d threads)", view->question->block);
    } else {
        fputs("\n  limited by (at the launch bound, else at the best block size)", stream);
    }
    print_count(stream, "\n  %10s  nothing: full occupancy\n", summary->full);
    for (size_t i = 0; i < summary->limiters_count; i++) {
        char names[128];
        join_limiters(names, sizeof names, summary->limiters[i].limiters);
        print_count(stream, "  %10s  ", summary->limiters[i].kernels);
        fprintf(stream, "%s\n", names);
    }
}

/* --- the list --------------------------------------------------------------------------------------------
 */

/* The one size that is judged, or the best ones among those that people use: "128 256 512". */
static void format_blocks(char *text, size_t size, const struct scan_judged *judged, bool asked)
{
    static const uint16_t usual[] = {64, 128, 256, 512, 1024};
    const struct scan_verdict *verdict = &judged->verdict;
    size_t used = 0;
    bool bound = judged->kernel->valid & (CUBIN_HAS_MAX_THREADS | CUBIN_HAS_REQUIRED_BLOCK);
    for (uint32_t i = 0; i < verdict->best_blocks.count && !asked && !bound; i++) {
        uint16_t threads = verdict->best_blocks.threads[i];
        for (size_t k = 0; k < sizeof usual / sizeof *usual; k++) {
            if (threads == usual[k] && used < size) {
                used += (size_t)snprintf(text + used, size - used, "%s%u", used ? " " : "", threads);
            }
        }
    }
    if (used == 0) {
        snprintf(text, size, "%u", verdict->block);
    }
}

static void print_number(FILE *stream, int width, bool known, uint32_t number)
{
    if (known) {
        fprintf(stream, "%*u", width, number);
    } else {
        fprintf(stream, "%*s", width, "-");
    }
}

static void print_verdict(const struct scan_view *view, const struct scan_judged *judged)
{
    const struct scan_verdict *verdict = &judged->verdict;
    char blocks[64] = "-", limiters[128] = "-";
    if (!verdict->known) {
        fprintf(view->stream, "  %9s  %-20s %-20s", "unknown", blocks, limiters);
        return;
    }
    format_blocks(blocks, sizeof blocks, judged, view->question->block != 0);
    join_limiters(limiters, sizeof limiters, verdict->occupancy.limiters);
    fprintf(view->stream, "  %7.1f %%  %-20s %-20s", 100 * verdict->occupancy.theoretical_occupancy, blocks,
            limiters);
}

static void print_row(const struct scan_view *view, const struct scan_judged *judged, size_t count,
                      const char *name)
{
    FILE *stream = view->stream;
    const struct scan_kernel *kernel = judged->kernel;
    bool known = scan_has_resources(kernel);
    char arch[SCAN_ARCH_BYTES];
    scan_format_arch(kernel, arch);
    print_verdict(view, judged);
    print_number(stream, 5, kernel->valid & CUBIN_HAS_REGISTERS, kernel->registers_per_thread);
    print_number(stream, 8, known, kernel->static_shared_bytes);
    print_number(stream, 7, kernel->valid & CUBIN_HAS_STACK, kernel->stack_bytes);
    print_number(stream, 6, known, kernel->barriers);
    print_number(stream, 7, kernel->valid & CUBIN_HAS_MAX_THREADS, kernel->max_threads_per_block);
    fprintf(stream, "  %-8s", arch);
    print_count(stream, "%7s  ", count);
    print_visible(stream, name);
    fputs(kernel->origin == ORIGIN_PRELINK ? " (pre-link)\n" : "\n", stream);
}

/* The smallest change that lets one more block reside, where there is one. */
static void print_lift(const struct scan_view *view, const struct scan_judged *judged)
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
    if (!judged->verdict.known || !occupancy_sm_of_capability(capability, &sm)) {
        return;
    }
    int count = lift_limits(&sm, &launch, lifts);
    if (count == 0 || !lifts[0].helps) {
        return;
    }
    fprintf(view->stream, "  %11swith %d threads:", "", launch.threads);
    for (int i = 0; i < lifts[0].changes_count; i++) {
        fprintf(view->stream, "%s %s to %d", i ? " and" : "", lift_names[lifts[0].changes[i].what],
                lifts[0].changes[i].to);
    }
    fprintf(view->stream, " gives %d blocks, %.1f %%\n", lifts[0].blocks_per_sm,
            100 * lifts[0].theoretical_occupancy);
}

/* How many of the rows from `first` on differ in nothing that the list shows; they are moved together. */
static size_t gather_same(struct scan_judged *judged, size_t first, size_t count, const char *name)
{
    size_t same = 1;
    for (size_t i = first + 1; i < count && scan_same_resources(&judged[first], &judged[i]); i++) {
        char *other = demangle_short(judged[i].kernel->mangled);
        if (other && strcmp(other, name) == 0) {
            struct scan_judged moved = judged[first + same];
            judged[first + same++] = judged[i];
            judged[i] = moved;
        }
        free(other);
    }
    return same;
}

static void print_list(const struct scan_view *view, struct scan_summary *summary)
{
    size_t at = 0;
    fprintf(view->stream,
            "\n  occupancy  %-20s %-20s regs  shared  stack  barr  bound  arch    kernels  kernel\n",
            view->question->block ? "block" : "block, or best ones", "limited by");
    for (size_t rows = 0; at < summary->judged_count && rows < view->top; rows++) {
        char *name = demangle_short(summary->judged[at].kernel->mangled);
        size_t count = name ? gather_same(summary->judged, at, summary->judged_count, name) : 1;
        print_row(view, &summary->judged[at], count, name ? name : summary->judged[at].kernel->mangled);
        print_lift(view, &summary->judged[at]);
        free(name);
        at += count;
    }
    if (at < summary->judged_count) {
        print_count(view->stream, "  ... and %s more kernels: --top 0 lists all, --kernel narrows\n",
                    summary->judged_count - at);
    }
}

/* --- the format ------------------------------------------------------------------------------------------
 */

/* Before the first kernel that is judged. */
static void print_preface(struct scan_view *view)
{
    if (view->prefaced) {
        return;
    }
    view->prefaced = true;
    if (view->device) {
        fprintf(view->stream, "What %s would load, and the occupancy there.\n", view->device);
    }
    fprintf(
        view->stream,
        "Occupancy by the model, with %d bytes of dynamic shared memory a block (--dynamic-shared): no file "
        "says how much a launch asks for.\n\n",
        view->question->dynamic_shared_bytes);
}

static void text_file(struct scan_view *view, const struct scan_file *file)
{
    struct scan_summary summary;
    fputs(view->files ? "\n" : "", view->stream);
    if (scan_is_empty(file)) {
        print_visible(view->stream, file->path);
        fputs(": no device code\n", view->stream);
        return;
    }
    if (!scan_summarize(file, view->question, &summary)) {
        fputs("out of memory\n", view->stream);
    } else {
        if (summary.judged_count > summary.without_resources) {
            print_preface(view);
        }
        print_contents(view, file, &summary);
        if (summary.archs_count) {
            print_archs(view->stream, &summary);
            print_limiters(view, &summary);
        }
        if (summary.judged_count) {
            print_list(view, &summary);
        }
    }
    scan_summary_free(&summary);
}

static void text_begin(struct scan_view *view)
{
    view->prefaced = false;
}

static void text_end(struct scan_view *view)
{
    if (view->readable > 0 && view->files == 0) {
        fputs("no device code found\n", view->stream);
    }
}

const struct scan_format scan_format_text = {"text", text_begin, text_file, text_end, compare_view_text};
