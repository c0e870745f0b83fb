/* What wastes the GPU, the costliest first. Findings of one kind in a row share a title. */
#include <string.h>

#include "findings/words.h"
#include "text.h"

enum { INDENT = 8, UNRANKED_SHOWN = 4 };

static enum style style_of(enum finding_severity severity)
{
    static const enum style styles[] = {BAD, FAIR, PLAIN, FAINT};
    return styles[severity];
}

static void write_title(const struct page *page, const struct merged_finding *finding)
{
    page_left(page, style_of(finding->severity), INDENT, finding_severity_names[finding->severity]);
    page_fit(page, STRONG, page->columns - INDENT, finding->title);
    page_end(page);
}

static void write_finding(const struct page *page, const struct merged *merged,
                          const struct merged_finding *finding)
{
    struct sentence lead = {"", 0};
    if (finding->share > 0) {
        say(&lead, "%6s", short_percent(finding->share).text);
    }
    if (finding->kernel != MERGED_NONE) {
        page_left(page, style_of(finding->severity), INDENT, lead.text);
        page_fit(page, PLAIN, page->columns - INDENT, merged->kernels[finding->kernel].short_name);
        page_end(page);
        lead.text[0] = '\0';
    }
    page_paragraph(page, PLAIN, INDENT, lead.text, finding->evidence, 4);
}

static bool are_one_group(const struct merged_finding *finding, const struct merged_finding *next)
{
    return strcmp(finding->id, next->id) == 0 && finding->severity == next->severity;
}

/* Advice that holds for several findings in a row is given once, after the last of them. */
static bool advice_comes_later(const struct merged_finding *finding, const struct merged_finding *next)
{
    return are_one_group(finding, next) && strcmp(finding->advice, next->advice) == 0;
}

static uint64_t concurrent_launches(const struct merged *merged)
{
    uint64_t launches = 0;
    for (uint32_t i = 0; i < merged->configurations_count; i++) {
        const struct merged_configuration *configuration = &merged->configurations[i];
        launches += configuration->labels & LABEL_CONCURRENT ? configuration->launches : 0;
    }
    return launches;
}

static void write_nothing_found(const struct page *page, const struct merged *merged)
{
    if (merged->configurations_count == 0) {
        page_text(page, PLAIN, "Nothing could be judged: of no launch is the shape known.");
        page_end(page);
        return;
    }
    page_text(page, GOOD, "Nothing found: no launch wastes the GPU by its shape or by what was measured.");
    page_end(page);
    uint64_t beside = concurrent_launches(merged);
    if (beside > 0) {
        struct sentence note = {"", 0};
        say(&note,
            "%s went into streams or branches of graphs beside others, which may use what they leave idle.",
            PLURAL(beside, "launch"));
        page_paragraph(page, PLAIN, 0, "", note.text, 2);
    }
}

/* No cost to be ranked by: an odd rank, lost launches. */
static bool is_unranked(const struct merged_finding *finding)
{
    return finding->share <= 0 && finding->severity <= SEVERITY_MEDIUM;
}

/* The first `most`, and beyond them a few of those that are late only for want of a cost. */
static bool is_shown(const struct merged *merged, uint32_t index, uint32_t most)
{
    uint32_t unranked = 0;
    for (uint32_t i = most; i < index; i++) {
        unranked += is_unranked(&merged->findings[i]);
    }
    return index < most || (unranked < UNRANKED_SHOWN && is_unranked(&merged->findings[index]));
}

static const struct merged_finding *next_shown(const struct merged *merged, uint32_t from, uint32_t most)
{
    for (uint32_t i = from; i < merged->findings_count; i++) {
        if (is_shown(merged, i, most)) {
            return &merged->findings[i];
        }
    }
    return NULL;
}

/* Returns how many. */
static uint32_t write_findings(const struct page *page, const struct merged *merged, uint32_t most)
{
    const struct merged_finding *before = NULL, *finding = next_shown(merged, 0, most), *next;
    uint32_t shown = 0;
    for (; finding; before = finding, finding = next, shown++) {
        next = next_shown(merged, (uint32_t)(finding - merged->findings) + 1, most);
        if (!before || !are_one_group(before, finding)) {
            write_title(page, finding);
        }
        write_finding(page, merged, finding);
        if (finding->advice[0] && !(next && advice_comes_later(finding, next))) {
            page_paragraph(page, PLAIN, INDENT, "      →", finding->advice, 4);
        }
    }
    return shown;
}

void text_findings(const struct page *page, const struct merged *merged, uint32_t most)
{
    if (merged->findings_count == 0) {
        page_heading(page, "WHAT WASTES THE GPU", "");
        write_nothing_found(page, merged);
        return;
    }
    page_heading(page, "WHAT WASTES THE GPU",
                 merged->totals.gpu_times_complete ? "% of all SM time"
                                                   : "% of all SM time, counted in waves");
    uint32_t shown = write_findings(page, merged, most);
    if (merged->findings_count > shown) {
        page_space(page, INDENT);
        page_print(page, FAINT, "and %u more: --top %u shows them", merged->findings_count - shown,
                   merged->findings_count);
        page_end(page);
    }
}
