/* The table of kernels or configurations. Only the rows in sight exist as elements, so that ten thousand
   scroll as smoothly as ten; when printing, the first PRINTED_ROWS stand in full. */

const PRINTED_ROWS = 200;
const OVERSCAN_ROWS = 12;

/* The rows in table order, and the one that the keyboard is on. */
const table = {
    rows: [],
    active: 0,
    fields: [],
    rendered: null, /* the part of rows that exists: {first, last} */
    rowHeight: null,
};

const inAlphabet = new Intl.Collator("en");

function compareKeys(x, y) {
    return typeof x === "string" ? inAlphabet.compare(x, y) : x - y;
}

/* Unknown values come last in either direction; equal ones keep the order of the report. */
function sorted(rows, field, descending) {
    const sign = descending ? -1 : 1;
    const keyed = rows.map((row) => ({row, key: field.value(row) ?? null}));
    const unknownOrder = (a, b) => (a.key === null) - (b.key === null);
    const known = (a, b) => a.key !== null && b.key !== null;
    keyed.sort((a, b) => known(a, b) ? sign * compareKeys(a.key, b.key) : unknownOrder(a, b));
    return keyed.map(({row}) => row);
}

function cellClass(field) {
    const kinds = {number: !field.text, wide: !field.phone, roomy: field.roomy};
    return [`c-${field.id}`, ...Object.keys(kinds).filter((kind) => kinds[kind])].join(" ");
}

function cellNode(field, row) {
    const value = field.value(row) ?? null;
    const show = field.cell ? () => field.cell(row) : () => field.format(value);
    const content = value === null ? notAvailable(howToMeasure(field.id)) : show();
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

/* Stands for the rows that do not exist above and below. */
function spacer(rows, height) {
    const cell = element("td", {colspan: table.fields.length, style: {height: rows * height + "px"}});
    return element("tr", {class: "spacer", "aria-hidden": "true", hidden: rows === 0}, cell);
}

function rowNodes(first, last) {
    return table.rows.slice(first, last).map((row, index) => rowNode(row, first + index));
}

/* Asking for it makes the browser compute styles, so it is asked once for each layout. */
function rowHeight() {
    table.rowHeight ??= parseFloat(getComputedStyle(byId("table")).getPropertyValue("--row-height"));
    return table.rowHeight;
}

function layoutChanged() {
    table.rowHeight = null;
    table.rendered = null;
}

function rowsInSight() {
    const height = rowHeight();
    const scroller = byId("scroller");
    const first = Math.max(0, Math.floor(scroller.scrollTop / height) - OVERSCAN_ROWS);
    const last = Math.min(
        table.rows.length, Math.ceil((scroller.scrollTop + scroller.clientHeight) / height) + OVERSCAN_ROWS);
    return {first, last, height};
}

function renderAnew(body, {first, last, height}) {
    body.replaceChildren(
        spacer(first, height), ...rowNodes(first, last), spacer(table.rows.length - last, height));
}

/* Rows that stay in sight stay as they are: scrolling makes only the few that come into it. */
function renderMoved(body, old, {first, last, height}) {
    const nodes = [...body.children].slice(1, -1);
    nodes.filter((_, index) => old.first + index < first || old.first + index >= last)
        .forEach((node) => node.remove());
    body.firstChild.replaceWith(spacer(first, height), ...rowNodes(first, Math.max(first, old.first)));
    body.lastChild.replaceWith(
        ...rowNodes(Math.min(last, old.last), last), spacer(table.rows.length - last, height));
}

function renderBody(sight) {
    const old = table.rendered;
    if (old && old.height === sight.height && old.first < sight.last && sight.first < old.last) {
        renderMoved(byId("table-body"), old, sight);
    } else {
        renderAnew(byId("table-body"), sight);
    }
    table.rendered = sight;
}

function renderRowsInSight() {
    const sight = rowsInSight();
    if (table.rendered?.first !== sight.first || table.rendered?.last !== sight.last) {
        renderBody(sight);
    }
}

function setActive(index) {
    rowElement(table.active)?.setAttribute("tabindex", -1);
    table.active = Math.min(table.rows.length - 1, Math.max(0, index));
    rowElement(table.active)?.setAttribute("tabindex", 0);
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
    const {field: sortField, descending} = state.sort[state.mode];
    const all = state.mode === "kernels" ? kernelRows() : selectedRows;
    const matching = all.filter(state.mode === "kernels" ? kernelMatches : configurationMatches);
    table.fields = fieldsOf(state.mode);
    table.rows = sorted(matching, table.fields.find((field) => field.id === sortField), descending);
    table.active = 0;
    renderToolbar();
    renderHeading();
    byId("table").className = state.mode;
    byId("table").setAttribute("aria-rowcount", table.rows.length + 1);
    byId("scroller").scrollTop = 0;
    layoutChanged();
    renderRowsInSight();
    byId("table-note").textContent = tableNote(matching.length, all.length);
}

/* Moves the keyboard to a row, which is brought into existence and sight first. */
function focusRow(index) {
    if (!table.rows.length) {
        return;
    }
    setActive(index);
    const height = rowHeight();
    const scroller = byId("scroller");
    const head = byId("table-head").offsetHeight;
    const top = table.active * height;
    if (top < scroller.scrollTop) {
        scroller.scrollTop = top;
    } else if (top + height > scroller.scrollTop + scroller.clientHeight - head) {
        scroller.scrollTop = top + height - scroller.clientHeight + head;
    }
    renderRowsInSight();
    rowElement(table.active)?.focus({preventScroll: true});
}

function rowsPerPage() {
    return Math.max(1, Math.floor(byId("scroller").clientHeight / rowHeight()) - 1);
}
