/* Events: filters, keys, colours, printing. */

function renderAll() {
    select();
    renderTiles();
    renderFindings();
    renderHistogram();
    renderLimiters();
    renderTable();
    byId("filter-reset").hidden = everythingSelected();
}

function fillSelect(id, all, entries, chosen) {
    const select = byId(id);
    select.replaceChildren(
        element("option", {value: ""}, all),
        ...entries.map(([value, label]) => element("option", {value}, label)));
    select.closest("label").hidden = entries.length < 2;
    select.addEventListener("change", () => {
        chosen(select.value === "" ? null : select.value);
        renderAll();
    });
}

const RUN_FILTERS = ["device", "process", "rank"];

function setRunFilter(name) {
    return (value) => {
        state[name] = value === null ? null : Number(value);
    };
}

function showEverything() {
    RUN_FILTERS.forEach((name) => {
        byId(`filter-${name}`).value = "";
        state[name] = null;
    });
    renderAll();
}

function fillFilters() {
    const devices = report.devices.map(
        (device, index) => [index, `${index} · ${deviceName(device)} · ${visible(device.host)}`]);
    const processes =
        report.processes.map((process, index) => [index, `${visible(process.host)} · ${process.pid}`]);
    const ranks = distinct(report.processes.map((process) => process.rank)).filter((rank) => rank !== null);
    const limiters = distinct(allRows.flatMap((row) => row.limiters));
    ranks.sort((a, b) => a - b);
    fillSelect("filter-device", "all", devices, setRunFilter("device"));
    fillSelect("filter-process", "all", processes, setRunFilter("process"));
    fillSelect("filter-rank", "all", ranks.map((rank) => [rank, String(rank)]), setRunFilter("rank"));
    fillSelect("filter-limiter", "anything", limiters.map((name) => [name, limiterLabel(name)]), (value) => {
        state.limiter = value;
    });
    byId("filters").hidden = RUN_FILTERS.every((name) => byId(`filter-${name}`).closest("label").hidden);
    byId("filter-reset").addEventListener("click", showEverything);
}

function setMode(mode) {
    state.mode = mode;
    renderTable();
}

function listenToTable() {
    byId("search").addEventListener("input", (event) => {
        state.search = event.target.value.trim().toLowerCase();
        renderTable();
    });
    byId("sort-by").addEventListener("change", (event) => {
        state.sort[state.mode] = {field: event.target.value, descending: event.target.value !== "name"};
        renderTable();
    });
    byId("mode-kernels").addEventListener("click", () => setMode("kernels"));
    byId("mode-configurations").addEventListener("click", () => setMode("configurations"));
    byId("bucket-reset").addEventListener("click", () => toggleBucket(state.bucket));
    byId("scroller").addEventListener("scroll", renderRowsInSight, {passive: true});
    window.addEventListener("resize", () => {
        layoutChanged();
        renderRowsInSight();
    });
    byId("table-body").addEventListener("click", (event) => {
        const row = event.target.closest("tr[data-index]");
        if (row) {
            openRow(Number(row.dataset.index));
        }
    });
    byId("table-body").addEventListener("keydown", tableKey);
}

const TABLE_MOVES = {
    ArrowDown: () => table.active + 1,
    j: () => table.active + 1,
    ArrowUp: () => table.active - 1,
    k: () => table.active - 1,
    PageDown: () => table.active + rowsPerPage(),
    PageUp: () => table.active - rowsPerPage(),
    Home: () => 0,
    End: () => table.rows.length - 1,
};

function plainKey(event) {
    return !event.ctrlKey && !event.metaKey && !event.altKey;
}

function tableKey(event) {
    if (!plainKey(event)) {
        return;
    }
    if (event.key === "Enter") {
        event.preventDefault();
        openRow(table.active);
    } else if (Object.hasOwn(TABLE_MOVES, event.key)) {
        event.preventDefault();
        event.stopPropagation();
        focusRow(TABLE_MOVES[event.key]());
    }
}

function pageKey(event) {
    const typing = event.target.closest("input, select, textarea");
    if (typing || !plainKey(event) || document.querySelector("dialog[open]")) {
        return;
    }
    if (event.key === "/") {
        event.preventDefault();
        byId("search").focus();
    } else if (event.key === "?") {
        byId("keys").showModal();
    } else if (event.key === "j" || event.key === "k") {
        focusRow(table.active);
    }
}

function listenToDetail() {
    const dialog = byId("detail");
    dialog.addEventListener("keydown", (event) => {
        if (plainKey(event) && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
            event.preventDefault();
            stepDetail(event.key === "ArrowLeft" ? -1 : 1);
        }
    });
    dialog.addEventListener("click", (event) => {
        if (event.target === dialog && event.clientX < dialog.getBoundingClientRect().left) {
            dialog.close();
        }
    });
    dialog.addEventListener("close", () => {
        history.replaceState(null, "", location.pathname + location.search);
        if (detail.fromTable) {
            focusRow(table.active);
        }
        detail.fromTable = false;
    });
    window.addEventListener("hashchange", openFromAddress);
}

function listenToTheme() {
    const themes = {auto: "as the system", light: "light", dark: "dark"};
    byId("theme").addEventListener("click", () => {
        const names = Object.keys(themes);
        const next =
            names[(names.indexOf(document.documentElement.dataset.theme || "auto") + 1) % names.length];
        document.documentElement.dataset.theme = next;
        byId("theme").textContent = "◐ " + next;
        byId("theme").setAttribute("aria-label", "Colours: " + themes[next]);
    });
}

function listenToPrinting() {
    window.addEventListener(
        "beforeprint",
        () => renderBody({first: 0, last: Math.min(PRINTED_ROWS, table.rows.length), height: 0}));
    window.addEventListener("afterprint", () => {
        layoutChanged();
        renderRowsInSight();
    });
}

renderHead();
fillFilters();
listenToTable();
listenToDetail();
listenToTheme();
listenToPrinting();
document.addEventListener("keydown", pageKey);
byId("keys-open").addEventListener("click", () => byId("keys").showModal());
byId("findings-more").addEventListener("click", () => {
    state.allFindings = !state.allFindings;
    renderFindings();
});
renderAll();
openFromAddress();
document.documentElement.dataset.ready = "true";
