/* The table of kernels or configurations. Only the rows in sight exist as elements, so that ten thousand
   scroll as smoothly as ten; when printing, the first PRINTED_ROWS stand in full. */

const PRINTED_ROWS = 200;
const OVERSCAN_ROWS = 12;

/* The rows in table order, and the one that the keyboard is on. */
const table = {
    rows: [],
    active: 0,
    fields: []
};

/* Unknown values come last in either direction; equal ones keep the order of the report. */
function compareBy(field, descending) {
    const sign = descending ? -1 : 1;
    return (a, b) => {
        const x = field.value(a) ?? null;
        const y = field.value(b) ?? null;
        if (x === null || y === null) {
            return (x === null) - (y === null);
        }
        return sign * (typeof x === "string" ? x.localeCompare(y, "en") : x - y);
    };
}

function tableRows() {
    return state.mode === "kernels" ? kernelRows().filter(kernelMatches) :
                                      selectedRows.filter(configurationMatches);
}

function cellClass(field) {
    return [
        `c-${field.id}`, field.text ? "" : "number", field.phone ? "" : "wide", field.roomy ? "roomy" : ""
    ].filter(Boolean)
        .join(" ");
}

function cellNode(field, row) {
    const value = field.value(row) ?? null;
    const content = value === null ? notAvailable(howToMeasure(field.id)) :
        field.cell                 ? field.cell(row) :
                                     field.format(value);
    return element("td", {class: cellClass(field), "data-label": field.label}, content);
}

function rowNode(row, index) {
    return element(
        "tr", {
            tabindex: index === table.active ? 0 : -1,
            "aria-rowindex": index + 2,
            "data-index": index,
            class: row.excused ? "excused" : "",
        },
        table.fields.map((field) => cellNode(field, row)));
}

function spacer(rows, height) {
    return rows > 0 ?
        element(
            "tr", {class: "spacer", "aria-hidden": "true"},
            element("td", {colspan: table.fields.length, style: {height: rows * height + "px"}})) :
        null;
}

function rowHeight() {
    return parseFloat(getComputedStyle(byId("table")).getPropertyValue("--row-height"));
}

function rowsInSight() {
    const height = rowHeight();
    const scroller = byId("scroller");
    const first = Math.max(0, Math.floor(scroller.scrollTop / height) - OVERSCAN_ROWS);
    const last = Math.min(
        table.rows.length, Math.ceil((scroller.scrollTop + scroller.clientHeight) / height) + OVERSCAN_ROWS);
    return {first, last, height};
}

function renderBody({first, last, height}) {
    byId("table-body")
        .replaceChildren(
            ...[spacer(first, height),
                ...table.rows.slice(first, last).map((row, index) => rowNode(row, first + index)),
                spacer(table.rows.length - last, height),
    ].filter(Boolean));
    table.rendered = {first, last};
}

function renderRowsInSight() {
    const sight = rowsInSight();
    if (table.rendered?.first !== sight.first || table.rendered?.last !== sight.last) {
        const focused = document.activeElement?.closest("#table-body tr");
        renderBody(sight);
        if (focused) {
            rowElement(table.active)?.focus({preventScroll: true});
        }
    }
}

function rowElement(index) {
    return byId("table-body").querySelector(`tr[data-index="${index}"]`);
}

function sortBy(fieldId) {
    const sort = state.sort[state.mode];
    const field = table.fields.find((candidate) => candidate.id === fieldId);
    sort.descending = sort.field === fieldId ? !sort.descending : !field.text;
    sort.field = fieldId;
    renderTable();
    byId("table-head").querySelector(`[data-field="${fieldId}"]`)?.focus();
}

function headCell(field) {
    const sort = state.sort[state.mode];
    const direction = sort.field !== field.id ? "none" : sort.descending ? "descending" : "ascending";
    return element(
        "th", {scope: "col", "aria-sort": direction, class: cellClass(field)},
        element(
            "button",
            {type: "button", "data-field": field.id, title: field.help, onclick: () => sortBy(field.id)},
            field.label,
            element(
                "span", {class: "arrow", "aria-hidden": "true"},
                {none: "", descending: "▾", ascending: "▴"}[direction])));
}

function renderHeading() {
    byId("table-head").replaceChildren(element("tr", {}, table.fields.map(headCell)));
    byId("sort-by").replaceChildren(...table.fields.map(
        (field) => element(
            "option", {value: field.id, selected: field.id === state.sort[state.mode].field}, field.label)));
}

function tableNote(shownRows, all) {
    const noun = state.mode === "kernels" ? "kernel" : "configuration";
    return shownRows === all ? plural(all, noun) : `${count(shownRows)} of ${plural(all, noun)}`;
}

function renderToolbar() {
    byId("mode-kernels").setAttribute("aria-pressed", String(state.mode === "kernels"));
    byId("mode-configurations").setAttribute("aria-pressed", String(state.mode === "configurations"));
    byId("bucket-reset").hidden = state.bucket === null;
    byId("bucket-reset").textContent = state.bucket === null ? "" : `${bucketRange(state.bucket)} ✕`;
}

function renderTable() {
    table.fields = fieldsOf(state.mode);
    const sort = state.sort[state.mode];
    const field = table.fields.find((candidate) => candidate.id === sort.field);
    table.rows = tableRows().sort(compareBy(field, sort.descending));
    table.active = 0;
    table.rendered = null;
    renderToolbar();
    renderHeading();
    byId("table").className = state.mode;
    byId("table").setAttribute("aria-rowcount", table.rows.length + 1);
    byId("scroller").scrollTop = 0;
    renderRowsInSight();
    byId("table-note").textContent =
        tableNote(table.rows.length, state.mode === "kernels" ? kernelRows().length : selectedRows.length);
}

/* Moves the keyboard to a row, which is brought into existence and sight first. */
function focusRow(index) {
    if (!table.rows.length) {
        return;
    }
    table.active = Math.min(table.rows.length - 1, Math.max(0, index));
    const height = rowHeight();
    const scroller = byId("scroller");
    const head = byId("table-head").offsetHeight;
    const top = table.active * height;
    if (top < scroller.scrollTop) {
        scroller.scrollTop = top;
    } else if (top + height > scroller.scrollTop + scroller.clientHeight - head) {
        scroller.scrollTop = top + height - scroller.clientHeight + head;
    }
    renderBody(rowsInSight());
    rowElement(table.active)?.focus({preventScroll: true});
}

function rowsPerPage() {
    return Math.max(1, Math.floor(byId("scroller").clientHeight / rowHeight()) - 1);
}
