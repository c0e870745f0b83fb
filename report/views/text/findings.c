/* What wastes the GPU, the costliest first. */
#include "findings/words.h"
#include "text.h"

static enum style style_of(enum finding_severity severity)
{
    static const enum style styles[] = {BAD, FAIR, PLAIN, FAINT};
    return styles[severity];
}

static void write_finding(const struct page *page, const struct merged *merged,
                          const struct merged_finding *finding)
{
    enum { INDENT = 8, SHARE = 8 };
    page_left(page, style_of(finding->severity), INDENT, finding_severity_names[finding->severity]);
    page_left(page, STRONG, page->columns - INDENT - SHARE, finding->title);
    page_right(page, style_of(finding->severity), SHARE, finding->share > 0 ? PERCENT(finding->share) : "");
    page_end(page);
    if (finding->kernel != MERGED_NONE) {
        page_space(page, INDENT);
        page_left(page, PLAIN, page->columns - INDENT, merged->kernels[finding->kernel].short_name);
        page_end(page);
    }
    page_paragraph(page, PLAIN, INDENT, "", finding->evidence, 4);
    if (finding->advice[0]) {
        page_paragraph(page, PLAIN, INDENT, "      →", finding->advice, 4);
    }
}

void text_findings(const struct page *page, const struct merged *merged, uint32_t most)
{
    if (merged->findings_count == 0) {
        page_heading(page, "FINDINGS", "");
        page_text(page, GOOD, "None: no launch wastes the GPU in a way that its shape or its figures show.");
        page_end(page);
        return;
    }
    page_heading(page, "WHAT WASTES THE GPU", "share of all SM time");
    for (uint32_t i = 0; i < merged->findings_count && i < most; i++) {
        write_finding(page, merged, &merged->findings[i]);
    }
    if (merged->findings_count > most) {
        page_print(page, FAINT, "        … and %u more: --top %u shows them", merged->findings_count - most,
                   merged->findings_count);
        page_end(page);
    }
}
