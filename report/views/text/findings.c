/* What wastes the GPU, the costliest first. Findings of one kind in a row share a title. */
#include <string.h>

#include "findings/words.h"
#include "text.h"

enum { INDENT = 8 };

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
    if (finding->advice[0]) {
        page_paragraph(page, PLAIN, INDENT, "      →", finding->advice, 4);
    }
}

static bool starts_group(const struct merged *merged, uint32_t index)
{
    const struct merged_finding *finding = &merged->findings[index];
    return index == 0 || strcmp(finding[-1].id, finding->id) != 0 ||
           finding[-1].severity != finding->severity;
}

void text_findings(const struct page *page, const struct merged *merged, uint32_t most)
{
    if (merged->findings_count == 0) {
        page_heading(page, "WHAT WASTES THE GPU", "");
        page_text(page, GOOD,
                  "Nothing found: no launch wastes the GPU by its shape or by what was measured.");
        page_end(page);
        return;
    }
    page_heading(page, "WHAT WASTES THE GPU",
                 merged->gpu_times_known ? "% of all SM time" : "% of all SM time, counted in waves");
    for (uint32_t i = 0; i < merged->findings_count && i < most; i++) {
        if (starts_group(merged, i)) {
            write_title(page, &merged->findings[i]);
        }
        write_finding(page, merged, &merged->findings[i]);
    }
    if (merged->findings_count > most) {
        page_space(page, INDENT);
        page_print(page, FAINT, "and %u more: --top %u shows them", merged->findings_count - most,
                   merged->findings_count);
        page_end(page);
    }
}
