/* The panel of one kernel: the chosen configuration drawn and explained, then everything known about it. */

const CONFIGURATIONS_SHOWN = 40;

const detail = { row: null };

function source(configuration, field) {
    const name = configuration.sources?.[field];
    return name ? element("span", { class: "source", title: "where the figure comes from" }, visible(name)) : null;
}

function fact(label, value, ...more) {
    return element("div", { class: "fact-item" }, element("dt", {}, label), element("dd", {}, value, " ", ...more));
}

function kernelFacts(kernel) {
    return [
        fact("Registers a thread", shown(kernel.registers_per_thread, count)),
        fact("Static shared", shown(kernel.static_shared_bytes, bytes)),
        fact("Local memory a thread", shown(kernel.local_bytes, bytes)),
        fact("Most threads a block", shown(kernel.max_threads_per_block, count)),
    ];
}

function launchFacts(row) {
    const { configuration } = row;
    return [
        fact("Launches", count(row.launches), row.graphLaunches ? `(${percent(row.graphLaunches / row.launches)} by graph replay)` : ""),
        fact("Through libcudart", count(configuration.runtime_launches)),
        fact("Grid", blocksOf(configuration.grid, "block")),
        fact("Block", blocksOf(configuration.block, "thread")),
        fact("Cluster", configuration.cluster ? shape(configuration.cluster) : "none"),
        fact("Dynamic shared", bytes(configuration.dynamic_shared_bytes)),
        fact("Blocks per SM", shown(configuration.blocks_per_sm, count), source(configuration, "blocks_per_sm")),
        fact("Theoretical occupancy", shown(configuration.theoretical_occupancy, percent), source(configuration, "theoretical_occupancy")),
        fact("Waves", shown(configuration.waves, waveCount), source(configuration, "waves")),
        fact("Tail waste", shown(configuration.tail_waste, percent), source(configuration, "tail_waste")),
        fact("Idle lanes a block", shown(configuration.idle_lanes_per_block, count)),
        fact("Idle SM-waves a launch", shown(row.idlePerLaunch, decimal)),
    ];
}

const MEASURED_FACTS = [
    ["achieved_occupancy", "Achieved occupancy", percent],
    ["lane_utilization", "Lane utilization", percent],
    ["branch_efficiency", "Branch efficiency", percent],
    ["sectors_per_request", "Sectors a request", decimal],
    ["bank_conflicts_per_request", "Bank conflicts a request", decimal],
];

function measuredFacts(configuration) {
    const time = configuration.gpu_ns;
    const how = howToMeasure("gpu_ns");
    return [
        fact("GPU time in all", shown(time?.total, duration, how), source(configuration, "gpu_ns")),
        fact("Median launch", shown(time?.median, duration, how)),
        fact("Least – most", time ? `${duration(time.min)} – ${duration(time.max)}` : notAvailable(how)),
        ...MEASURED_FACTS.map(([field, label, format]) =>
            fact(label, shown(configuration[field], format, howToMeasure(field)), source(configuration, field))),
    ];
}

function figure(title, summary, ...content) {
    return element("figure", { class: "figure" }, element("figcaption", {}, element("h3", {}, title), element("p", {}, summary)), ...content);
}

function occupancyFigure(row) {
    const { configuration } = row;
    const known = configuration.blocks_per_sm !== null && row.device;
    const lifts = configuration.lift || [];
    return figure("One SM", known ? smSummary(row) : "Occupancy is not known.",
        known ? smDrawing(row) : null, known ? smLegend(row) : null,
        element("h4", {}, "Blocks per SM that each limit allows"),
        limitsChart(configuration),
        lifts.length ? element("ul", { class: "lift" }, lifts.map(liftNode)) : null);
}

function wavesFigure(row) {
    if (row.configuration.waves === null) {
        return figure("Waves", row.configuration.blocks_per_sm === 0 ? "The launch fits no SM: no waves." : "Waves are not known.");
    }
    return figure("Waves", wavesSummary(row), wavesDrawing(row),
        element("ul", { class: "legend" },
            legendItem("resident", row.configuration.cluster ? "places with a cluster, one a lane" : "SMs with blocks, one a lane"),
            legendItem("hatched", `idle in the last wave: ${percent(row.configuration.tail_waste)} of all slots offered`)),
        element("p", { class: "note" }, "Drawn as if all blocks took the same time and spread evenly."));
}

function processTable(row) {
    const parts = [...row.configuration.by_process].sort((a, b) => b.launches - a.launches).slice(0, CONFIGURATIONS_SHOWN);
    return element("table", { class: "small" },
        element("thead", {}, element("tr", {}, ["Process", "Rank", "Launches", "By graph"].map((label, index) =>
            element("th", { scope: "col", class: index ? "number" : "" }, label)))),
        element("tbody", {}, parts.map((part) => {
            const process = report.processes[part.process];
            return element("tr", {},
                element("td", {}, `${visible(process.host)} · ${process.pid}`),
                element("td", { class: "number" }, shown(process.rank, String, "no rank in the environment")),
                element("td", { class: "number" }, count(part.launches)),
                element("td", { class: "number" }, count(part.graph_launches)));
        })));
}

function siblingButton(row) {
    const { configuration } = row;
    return element("button", {
        type: "button", class: "sibling", "aria-pressed": String(row === detail.row),
        onclick: () => openDetail(row.kernelIndex, row.configurationIndex),
    },
    element("b", {}, `${shape(configuration.grid)} blocks of ${shape(configuration.block)}`),
    element("span", {}, `${compact(row.launches)} launches · ${configuration.waves === null ? "waves n/a" : waveCount(configuration.waves) + " waves"}`
        + (report.devices.length > 1 ? ` · device ${configuration.device}` : "")));
}

function siblingList(rows) {
    const most = [...rows].sort((a, b) => b.launches - a.launches);
    const listed = most.slice(0, CONFIGURATIONS_SHOWN);
    return element("section", {},
        element("h3", {}, plural(rows.length, "configuration")),
        element("div", { class: "siblings" }, listed.map(siblingButton)),
        most.length > listed.length ? element("p", { class: "note" }, `The ${CONFIGURATIONS_SHOWN} most launched; the table has all.`) : null);
}

function kernelFindings(kernelIndex) {
    const own = report.findings.filter((finding) => finding.kernel === kernelIndex);
    return own.length ? element("section", {}, element("h3", {}, "Findings"),
        element("ol", { class: "findings" }, own.map(findingNode))) : null;
}

function furtherNote(kernel) {
    return kernel.further.launches ? element("p", { class: "attention" },
        `${count(kernel.further.launches)} more launches came after the limit of configurations and are counted in one number.`) : null;
}

function labelTags(row) {
    return [...row.configuration.labels.map((label) => element("span", { class: "tag" }, visible(label))), simulatedMark(row.device)];
}

function detailHead(kernel) {
    return element("header", { class: "drawer-head" },
        element("div", { class: "drawer-buttons" },
            element("button", { type: "button", class: "quiet", onclick: () => stepDetail(-1), "aria-label": "Previous row" }, "←"),
            element("button", { type: "button", class: "quiet", onclick: () => stepDetail(1), "aria-label": "Next row" }, "→"),
            element("button", { type: "button", class: "quiet close", onclick: () => byId("detail").close() }, "Close ", element("kbd", {}, "Esc"))),
        element("h2", { id: "detail-name", tabindex: -1, autofocus: true }, nameNode(kernel.short_name)),
        element("details", { class: "full-name" }, element("summary", {}, "Full name"),
            nameNode(kernel.name, "name block"), nameNode(kernel.mangled, "name block muted")));
}

function configurationPart(row) {
    return [
        element("p", { class: "where" }, `${deviceName(row.device)}, device ${row.configuration.device}`, " ", ...labelTags(row)),
        element("div", { class: "figures" }, occupancyFigure(row), wavesFigure(row)),
        element("section", {}, element("h3", {}, "Launch"), element("dl", { class: "facts" }, kernelFacts(row.kernel), launchFacts(row))),
        element("section", {}, element("h3", {}, "Measured"), element("dl", { class: "facts" }, measuredFacts(row.configuration))),
        element("section", {}, element("h3", {}, "By process"), processTable(row)),
    ];
}

function renderDetail(kernelIndex) {
    const kernel = report.kernels[kernelIndex];
    const rows = rowsOfKernel[kernelIndex];
    const own = detail.row ? configurationPart(detail.row) : [element("dl", { class: "facts" }, kernelFacts(kernel))];
    byId("detail").replaceChildren(...[
        detailHead(kernel), furtherNote(kernel),
        rows.length > 1 ? siblingList(rows) : null, ...own, kernelFindings(kernelIndex),
    ].filter(Boolean));
}

/* Without a configuration: the one launched most. */
function rowToShow(kernelIndex, configurationIndex) {
    const rows = rowsOfKernel[kernelIndex];
    if (configurationIndex !== null) {
        return rows[configurationIndex] || null;
    }
    return rows.reduce((most, row) => (most === null || row.launches > most.launches ? row : most), null);
}

function openDetail(kernelIndex, configurationIndex) {
    detail.row = rowToShow(kernelIndex, configurationIndex);
    renderDetail(kernelIndex);
    const dialog = byId("detail");
    if (!dialog.open) {
        dialog.showModal();
    }
    dialog.scrollTop = 0;
    const place = "#kernel-" + kernelIndex + (detail.row ? "-" + detail.row.configurationIndex : "");
    history.replaceState(null, "", place);
}

function openRow(index) {
    const row = table.rows[index];
    if (row) {
        table.active = index;
        openDetail(row.kernelIndex, row.configuration ? row.configurationIndex : null);
    }
}

function stepDetail(step) {
    openRow(Math.min(table.rows.length - 1, Math.max(0, table.active + step)));
}

function openFromAddress() {
    const match = /^#kernel-(\d+)(?:-(\d+))?$/.exec(location.hash);
    if (match && report.kernels[Number(match[1])]) {
        openDetail(Number(match[1]), match[2] === undefined ? null : Number(match[2]));
    }
}
