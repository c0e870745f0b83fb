/* The findings, costliest first as the report ranks them, and how their figures are worded. */

const FINDINGS_SHOWN = 8, UNRANKED_SHOWN = 4;

const SEVERITIES = new Set(["high", "medium", "low", "note"]);

function findingRows(finding) {
    if (finding.kernel === null || finding.kernel === undefined) {
        return null;
    }
    const rows = rowsOfKernel[finding.kernel] || [];
    return finding.configuration === null ?
        rows :
        rows.filter((row) => row.configurationIndex === finding.configuration);
}

function findingSelected(finding) {
    const rows = findingRows(finding);
    return rows === null || rows.some((row) => row.launches > 0) ||
        (rows.length === 0 && everythingSelected());
}

function severityClass(finding) {
    return SEVERITIES.has(finding.severity) ? finding.severity : "note";
}

function findingTarget(finding) {
    if (findingRows(finding) === null) {
        return element("span", {class: "whole"}, "the whole run");
    }
    const kernel = report.kernels[finding.kernel];
    return element(
        "button",
        {type: "button", class: "link", onclick: () => openDetail(finding.kernel, finding.configuration)},
        nameNode(kernel.short_name));
}

/* Share of what all launches of the run offered, where the finding has such a cost. */
function shareNode(finding) {
    return finding.share === null ? null :
                                    element(
                                        "span", {class: "cost"}, element("b", {}, percent(finding.share)),
                                        element("span", {class: "bar", style: {"--share": finding.share}}));
}

function findingNode(finding) {
    const severity = severityClass(finding);
    return element(
        "li", {class: "finding " + severity, "data-id": visible(finding.id)},
        element(
            "div", {class: "finding-head"}, element("span", {class: "severity"}, severity),
            element("h3", {}, visible(finding.title)), shareNode(finding)),
        element(
            "p", {class: "finding-where"}, findingTarget(finding),
            finding.launches === null ? null :
                                        element("span", {}, plural(finding.launches, "launch", "launches")),
            element(
                "code", {class: "finding-id", title: `docs/findings/${visible(finding.id)}.md`},
                visible(finding.id))),
        element("p", {class: "evidence"}, visible(finding.evidence)),
        element("p", {class: "advice"}, visible(finding.advice)));
}

function noFindings() {
    return element(
        "li", {class: "clean"}, element("b", {}, "Nothing to report."),
        " No launch of this run crosses a threshold, as far as it was measured.");
}

function alike(left, right) {
    return left && right && left.id === right.id && left.severity === right.severity;
}

/* Findings of one kind in a row share a title; advice that holds for several stands after the last of them. */
function findingInList(finding, index, list) {
    const node = findingNode(finding);
    const next = list[index + 1];
    node.classList.toggle("again", Boolean(alike(list[index - 1], finding)));
    node.classList.toggle("advised-below", Boolean(alike(finding, next) && finding.advice === next.advice));
    return node;
}

/* The first, and beyond them a few of those that are late only for want of a cost: an odd rank, lost launches. */
function shownFirst(findings) {
    const late = findings.slice(FINDINGS_SHOWN)
                     .filter(({share, severity}) => share === null && (severity === "high" || severity === "medium"));
    return [...findings.slice(0, FINDINGS_SHOWN), ...late.slice(0, UNRANKED_SHOWN)];
}

function renderFindings() {
    const findings = report.findings.filter(findingSelected);
    const first = shownFirst(findings);
    const visibleFindings = state.allFindings ? findings : first;
    byId("findings")
        .replaceChildren(...(findings.length ? visibleFindings.map(findingInList) : [noFindings()]));
    byId("findings-note").textContent = findings.length ? "By share of the SM time of the whole run" : "";
    const more = byId("findings-more");
    more.hidden = findings.length <= first.length;
    more.textContent = state.allFindings ? "Show the costliest only" : `Show all ${count(findings.length)}`;
}
