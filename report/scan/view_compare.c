/* What changed between two builds, for people and for scripts. */
#include "view_compare.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

#include "parts.h"
#include "report/names/demangle.h"
#include "report/names/visible.h"

size_t compare_failures(const struct compare_view *view, const struct scan_condition *condition)
{
    size_t met = 0;
    for (size_t i = 0; i < view->comparison->count; i++) {
        met += scan_condition_met(condition, &view->comparison->pairs[i]);
    }
    return met;
}

static const struct scan_kernel *kernel_of(const struct scan_pair *pair)
{
    return pair->after ? pair->after : pair->before;
}

static const char *status_of(const struct scan_pair *pair)
{
    return !pair->before ? "added" : !pair->after ? "removed" : pair->changed ? "changed" : "same";
}

static bool is_worth_showing(const struct scan_pair *pair)
{
    return pair->changed || !pair->before || !pair->after;
}

/* --- text ------------------------------------------------------------------------------------------------
 */

static void print_figure(FILE *stream, enum scan_figure figure, const struct scan_figures *figures)
{
    if (!figures->known[figure]) {
        fputs("unknown", stream);
    } else if (figure == FIGURE_OCCUPANCY) {
        fprintf(stream, "%.1f %%", 100 * figures->at[figure]);
    } else {
        fprintf(stream, "%.0f", figures->at[figure]);
    }
}

static void print_change(FILE *stream, const struct scan_pair *pair, enum scan_figure figure,
                         const char **separator)
{
    const struct scan_figures *old = &pair->old_figures, *new = &pair->new_figures;
    if (old->known[figure] == new->known[figure] && old->at[figure] == new->at[figure]) {
        return;
    }
    fprintf(stream, "%s%s ", *separator, scan_figure_names[figure]);
    *separator = ", ";
    print_figure(stream, figure, old);
    fputs(" -> ", stream);
    print_figure(stream, figure, new);
}

static void print_pair(FILE *stream, const struct scan_pair *pair)
{
    char arch[SCAN_ARCH_BYTES];
    char *brief = demangle_short(kernel_of(pair)->mangled), *shown = visible(brief ? brief : "?");
    scan_format_arch(kernel_of(pair), arch);
    fprintf(stream, "  %-8s %-8s %s\n", status_of(pair), arch, shown ? shown : "?");
    const char *separator = "           ";
    for (int figure = 0; figure < SCAN_FIGURES && pair->changed; figure++) {
        print_change(stream, pair, (enum scan_figure)figure, &separator);
    }
    fputs(pair->changed ? "\n" : "", stream);
    free(brief);
    free(shown);
}

static void print_failures(const struct compare_view *view)
{
    for (size_t i = 0; i < view->conditions_count; i++) {
        size_t met = compare_failures(view, &view->conditions[i]);
        fprintf(view->stream, "%s %s: %zu kernel%s\n", met ? "FAILS" : "holds", view->conditions[i].text, met,
                met == 1 ? "" : "s");
        for (size_t k = 0; k < view->comparison->count && met; k++) {
            if (scan_condition_met(&view->conditions[i], &view->comparison->pairs[k])) {
                print_pair(view->stream, &view->comparison->pairs[k]);
            }
        }
    }
}

static void print_path(FILE *stream, const char *path)
{
    char *shown = visible(path);
    fputs(shown ? shown : "?", stream);
    free(shown);
}

void compare_view_text(const struct compare_view *view)
{
    const struct scan_comparison *comparison = view->comparison;
    size_t shown = 0, worth = comparison->changed + comparison->added + comparison->removed;
    print_path(view->stream, view->before);
    fputs(" -> ", view->stream);
    print_path(view->stream, view->after);
    fprintf(view->stream, ":\n%zu kernels changed, %zu added, %zu removed, %zu the same\n",
            comparison->changed, comparison->added, comparison->removed, comparison->count - worth);
    for (size_t i = 0; i < comparison->count && shown < view->top; i++) {
        if (is_worth_showing(&comparison->pairs[i])) {
            print_pair(view->stream, &comparison->pairs[i]);
            shown++;
        }
    }
    if (shown < worth) {
        fprintf(view->stream, "  ... and %zu more: --top 0 lists all\n", worth - shown);
    }
    print_failures(view);
}

/* --- JSON ------------------------------------------------------------------------------------------------
 */

static cJSON *json_figures(bool there, const struct scan_figures *figures)
{
    cJSON *object = there ? cJSON_CreateObject() : cJSON_CreateNull();
    for (int i = 0; i < SCAN_FIGURES && there; i++) {
        cJSON_AddItemToObject(object, scan_figure_names[i],
                              figures->known[i] ? cJSON_CreateNumber(figures->at[i]) : cJSON_CreateNull());
    }
    return object;
}

static void add_text(cJSON *object, const char *field, const char *text)
{
    char *valid = valid_utf8(text);
    cJSON_AddStringToObject(object, field, valid ? valid : "");
    free(valid);
}

static cJSON *json_pair(const struct scan_pair *pair)
{
    char arch[SCAN_ARCH_BYTES];
    cJSON *object = cJSON_CreateObject();
    scan_format_arch(kernel_of(pair), arch);
    add_text(object, "name", pair->name);
    add_text(object, "mangled", kernel_of(pair)->mangled);
    cJSON_AddStringToObject(object, "arch", arch);
    cJSON_AddStringToObject(object, "status", status_of(pair));
    cJSON_AddItemToObject(object, "before", json_figures(pair->before != NULL, &pair->old_figures));
    cJSON_AddItemToObject(object, "after", json_figures(pair->after != NULL, &pair->new_figures));
    return object;
}

static cJSON *json_conditions(const struct compare_view *view)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < view->conditions_count; i++) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "condition", view->conditions[i].text);
        cJSON_AddNumberToObject(object, "kernels", (double)compare_failures(view, &view->conditions[i]));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

void compare_view_json(const struct compare_view *view)
{
    const struct scan_comparison *comparison = view->comparison;
    cJSON *document = cJSON_CreateObject(), *kernels;
    cJSON_AddStringToObject(document, "schema", "warpwatch.scan-compare/1");
    add_text(document, "before", view->before);
    add_text(document, "after", view->after);
    cJSON_AddNumberToObject(document, "changed", (double)comparison->changed);
    cJSON_AddNumberToObject(document, "added", (double)comparison->added);
    cJSON_AddNumberToObject(document, "removed", (double)comparison->removed);
    cJSON_AddNumberToObject(
        document, "same",
        (double)(comparison->count - comparison->changed - comparison->added - comparison->removed));
    cJSON_AddItemToObject(document, "fail_on", json_conditions(view));
    kernels = cJSON_AddArrayToObject(document, "kernels");
    for (size_t i = 0; i < comparison->count; i++) {
        if (is_worth_showing(&comparison->pairs[i])) {
            cJSON_AddItemToArray(kernels, json_pair(&comparison->pairs[i]));
        }
    }
    char *text = cJSON_PrintUnformatted(document);
    fprintf(view->stream, "%s\n", text ? text : "null");
    cJSON_free(text);
    cJSON_Delete(document);
}

/* --- CSV -------------------------------------------------------------------------------------------------
 */

static void csv_figures(FILE *stream, bool there, const struct scan_figures *figures)
{
    for (int i = 0; i < SCAN_FIGURES; i++) {
        fputc(',', stream);
        if (there && figures->known[i]) {
            fprintf(stream, "%.17g", figures->at[i]);
        }
    }
}

void compare_view_csv(const struct compare_view *view)
{
    fputs("status,arch,name,mangled", view->stream);
    for (int i = 0; i < 2 * SCAN_FIGURES; i++) {
        fprintf(view->stream, ",%s_%s", i < SCAN_FIGURES ? "before" : "after",
                scan_figure_names[i % SCAN_FIGURES]);
    }
    fputc('\n', view->stream);
    for (size_t i = 0; i < view->comparison->count; i++) {
        const struct scan_pair *pair = &view->comparison->pairs[i];
        char arch[SCAN_ARCH_BYTES];
        scan_format_arch(kernel_of(pair), arch);
        fprintf(view->stream, "%s,%s,", status_of(pair), arch);
        print_quoted(view->stream, pair->name);
        fputc(',', view->stream);
        print_quoted(view->stream, kernel_of(pair)->mangled);
        csv_figures(view->stream, pair->before != NULL, &pair->old_figures);
        csv_figures(view->stream, pair->after != NULL, &pair->new_figures);
        fputc('\n', view->stream);
    }
}
