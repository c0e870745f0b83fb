/* Text for people: what the file holds, sums, then the kernels that reach least. */
#include "parts.h"
#include "summary.h"
#include "view.h"
#include "view_list.h"

#define FAULTS_MOST 20

/* --- what is there ---------------------------------------------------------------------------------------
 */

static void print_faults(FILE *stream, const struct scan_file *file)
{
    for (size_t i = 0; i < file->undecodable_count && i < FAULTS_MOST; i++) {
        fprintf(stream, "  undecodable at offset %llu: %s\n", (unsigned long long)file->undecodable[i].offset,
                file->undecodable[i].reason);
    }
    if (file->undecodable_count > FAULTS_MOST) {
        print_count(stream, "  ... and %s more undecodable places: --format json lists all\n",
                    file->undecodable_count - FAULTS_MOST);
    }
}

static void print_note(FILE *stream, uint64_t number, const char *noun, const char *what)
{
    if (number) {
        fputs("  ", stream);
        print_counted(stream, number, noun);
        fprintf(stream, " %s\n", what);
    }
}

static bool nothing_runs(const struct scan_view *view, const struct scan_file *file)
{
    return view->device && !view->options->kernel && !view->options->sm && file->kernels_count == 0 &&
           file->undecodable_count == 0 && file->counts.cubins + file->counts.ptx > 0;
}

static void print_contents(struct scan_view *view, const struct scan_file *file,
                           const struct scan_summary *summary)
{
    FILE *stream = view->stream;
    const struct scan_counts *counts = &file->counts;
    print_visible(stream, file->path);
    fputs(": ", stream);
    print_counted(stream, file->kernels_count, "kernel");
    fputs("\n  ", stream);
    print_counted(stream, counts->cubins, "cubin");
    if (counts->skipped) {
        print_count(stream, " (%s not asked for)", counts->skipped);
    }
    print_count(stream, ", %s PTX", counts->ptx);
    print_count(stream, ", %s LTO-IR\n", counts->lto);
    print_note(stream, summary->prelink_copies, "kernel",
               "left out below: relocatable copies of linked ones");
    print_note(stream, summary->without_resources, "kernel",
               "of PTX only: an assembler decides the resources at load time");
    print_note(stream, counts->lto_only, "container", "of LTO-IR only: kernels come to be at link time");
    if (nothing_runs(view, file)) {
        fprintf(stream, "  nothing of it runs on %s\n", view->device);
    }
    print_faults(stream, file);
}

/* --- sums ------------------------------------------------------------------------------------------------
 */

static void print_archs(FILE *stream, const struct scan_summary *summary)
{
    fputs("\n                     registers    with  shared  kernels that reach occupancy\n"
          "  arch      kernels  median most stack    most   <=25 %  <=50 %  <=75 % <=100 %\n",
          stream);
    for (size_t i = 0; i < summary->archs_count; i++) {
        const struct scan_arch_summary *arch = &summary->archs[i];
        fprintf(stream, "  sm_%u%-*.1s", arch->sm, arch->sm < 100 ? 5 : 4,
                arch->variant ? &arch->variant : "");
        print_count(stream, "%8s", arch->kernels);
        fprintf(stream, "%8u%5u", arch->registers_median, arch->registers_most);
        print_count(stream, "%6s", arch->with_stack);
        print_count(stream, "%8s", arch->shared_most_bytes);
        for (int step = 0; step < SCAN_REACH_STEPS; step++) {
            print_count(stream, "%8s", arch->reach[step]);
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
        char names[LIMITERS_TEXT_BYTES];
        limiters_text(summary->limiters[i].limiters, names);
        print_count(stream, "  %10s  ", summary->limiters[i].kernels);
        fprintf(stream, "%s\n", names);
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
    fprintf(view->stream, "Dynamic shared memory is in no file: taken as %d bytes (--dynamic-shared).\n\n",
            view->question->dynamic_shared_bytes);
}

static void print_file(struct scan_view *view, const struct scan_file *file)
{
    struct scan_summary summary;
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
            scan_list_print(view, &summary);
        }
    }
    scan_summary_free(&summary);
}

static void separate(struct scan_view *view)
{
    fputs(view->separated ? "\n" : "", view->stream);
    view->separated = true;
}

static void print_small_files(struct scan_view *view)
{
    struct small_files *small = &view->small;
    if (small->count == 0) {
        return;
    }
    separate(view);
    small_files_finish(small);
    print_file(view, &small->all);
    small_files_free(small);
}

static void text_file(struct scan_view *view, const struct scan_file *file)
{
    if (view->small.directory != view->directory) {
        print_small_files(view);
    }
    if (view->directory && small_files_take(file) && small_files_add(&view->small, view->directory, file)) {
        return;
    }
    separate(view);
    if (scan_is_empty(file)) {
        print_visible(view->stream, file->path);
        fputs(": no device code\n", view->stream);
    } else {
        print_file(view, file);
    }
}

static void text_begin(struct scan_view *view)
{
    view->prefaced = view->separated = false;
}

static void text_end(struct scan_view *view)
{
    print_small_files(view);
    if (view->readable > 0 && view->files == 0) {
        fputs("no device code found\n", view->stream);
    }
}

const struct scan_format scan_format_text = {"text", text_begin, text_file, text_end, compare_view_text};
