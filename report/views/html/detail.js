/* The panel of one kernel: the chosen configuration drawn and explained, then everything known about it. */

const CONFIGURATIONS_SHOWN = 40;

/* The configuration shown, and whether closing leads back to its row in the table. */
const detail = {
    row: null,
    fromTable: false,
};

function figure(title, summary, ...content) {
    return element(
        "figure", {class: "figure"},
        element("figcaption", {}, element("h3", {}, title), element("p", {}, summary)), ...content);
}

function occupancyFigure(row) {
    const known = row.configuration.blocks_per_sm !== null && row.device.max_threads_per_sm !== null;
    const drawn = known ? [smDrawing(row), smLegend(row)] : [];
    const heading = element("h4", {}, "Blocks per SM that each limit allows");
    return figure(
        "One SM", known ? smSummary(row) : "Occupancy is not known.", ...drawn, heading, limitsChart(row),
        liftList(row));
}

function wavesLegend(row) {
    const {cluster, waves, tail_waste: waste} = row.configuration;
    const place = waves < 1 ? "idle" : "idle in the last wave";
    return element(
        "ul", {class: "legend"},
        legendItem("resident", cluster ? "places with a cluster, one a lane" : "SMs with blocks, one a lane"),
        waste > 0 ? legendItem("hatched", `${place}: ${percent(waste)} of all slots offered`) : null);
}

function wavesFigure(row) {
    const {waves, blocks_per_sm: blocksPerSm} = row.configuration;
    if (waves === null) {
        return figure(
            "Waves", blocksPerSm === 0 ? "The launch fits no SM: no waves." : "Waves are not known.");
    }
    const note =
        element("p", {class: "note"}, "Drawn as if all blocks took the same time and spread evenly.");
    return figure("Waves", wavesSummary(row), wavesDrawing(row), wavesLegend(row), note);
}

function siblingButton(row) {
    const {configuration} = row;
    const facts = [plural(row.launches, "launch", "launches"), shown(configuration.waves, wavesText)];
    if (report.devices.length > 1) {
        facts.push(`device ${configuration.device}`);
    }
    const blocks = `${shape(configuration.grid)} ${row.blocks === 1 ? "block" : "blocks"}`;
    return element(
        "button", {
            type: "button",
            class: "sibling",
            "aria-pressed": String(row === detail.row),
            onclick: () => openDetail(row.kernelIndex, row.configurationIndex),
        },
        element("b", {}, `${blocks} of ${shape(configuration.block)}`),
        element("span", {}, facts.flatMap((fact, index) => index ? [" · ", fact] : [fact])));
}

function siblingList(rows) {
    const most = [...rows].sort((a, b) => b.launches - a.launches);
    const listed = most.slice(0, CONFIGURATIONS_SHOWN);
    const note =
        element("p", {class: "note"}, `The ${CONFIGURATIONS_SHOWN} most launched; the table has all.`);
    return element(
        "section", {}, element("h3", {}, plural(rows.length, "configuration")),
        element("div", {class: "siblings"}, listed.map(siblingButton)),
        most.length > listed.length ? note : null);
}

function kernelFindings(kernelIndex) {
    const own = report.findings.filter((finding) => finding.kernel === kernelIndex);
    const list = element("ol", {class: "findings"}, own.map(findingNode));
    return own.length ? element("section", {}, element("h3", {}, "Findings"), list) : null;
}

function furtherNote(kernel) {
    const launches = count(kernel.further.launches);
    const text = `${launches} more launches came after the limit of configurations: known by number only.`;
    return kernel.further.launches ? element("p", {class: "attention"}, text) : null;
}

function labelTags(row) {
    return [
        ...row.configuration.labels.map((label) => element("span", {class: "tag"}, visible(label))),
        simulatedMark(row.device)
    ];
}

function detailHead(kernel) {
    return element(
        "header", {class: "drawer-head"},
        element(
            "div", {class: "drawer-buttons"},
            element(
                "button",
                {type: "button", class: "quiet", onclick: () => stepDetail(-1), "aria-label": "Previous row"},
                "←"),
            element(
                "button",
                {type: "button", class: "quiet", onclick: () => stepDetail(1), "aria-label": "Next row"},
                "→"),
            element(
                "button", {type: "button", class: "quiet close", onclick: () => byId("detail").close()},
                "Close ", element("kbd", {}, "Esc"))),
        element("h2", {id: "detail-name", tabindex: -1, autofocus: true}, nameNode(kernel.short_name)),
        element(
            "details", {class: "full-name"}, element("summary", {}, "Full name"),
            nameNode(kernel.name, "name block"), nameNode(kernel.mangled, "name block muted")));
}

function configurationPart(row) {
    const place = `${deviceName(row.device)}, device ${row.configuration.device}`;
    return [
        element("p", {class: "where"}, place, " ", ...labelTags(row)),
        element("div", {class: "figures"}, occupancyFigure(row), wavesFigure(row)),
        kernelFindings(row.kernelIndex),
        factSection("Launch", [...kernelFacts(row.kernel), ...launchFacts(row)]),
        factSection("Measured", measuredFacts(row.configuration)),
        elsewherePart(row),
        element("section", {}, element("h3", {}, "By process"), ...processTable(row)),
    ];
}

function renderDetail(kernelIndex) {
    const kernel = report.kernels[kernelIndex];
    const rows = rowsOfKernel[kernelIndex];
    const own = detail.row ? configurationPart(detail.row) :
                             [kernelFindings(kernelIndex), factSection("Kernel", kernelFacts(kernel))];
    const siblings = rows.length > 1 ? siblingList(rows) : null;
    const parts = [detailHead(kernel), furtherNote(kernel), siblings, ...own];
    byId("detail").replaceChildren(...parts.filter(Boolean));
}

/* Without a configuration: the one launched most. */
function rowToShow(kernelIndex, configurationIndex) {
    const rows = rowsOfKernel[kernelIndex];
    if (configurationIndex !== null) {
        return rows[configurationIndex] || null;
    }
    return rows.reduce((most, row) => (most === null || row.launches > most.launches ? row : most), null);
}

function isInTable(kernelIndex) {
    return (row) => row === detail.row || (row.configuration === null && row.kernelIndex === kernelIndex);
}

function openDetail(kernelIndex, configurationIndex) {
    detail.row = rowToShow(kernelIndex, configurationIndex);
    setActive(table.rows.findIndex(isInTable(kernelIndex)));
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
        detail.fromTable = true;
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
