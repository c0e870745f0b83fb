/* The drawings of one configuration: the SM's warp slots, the blocks that each limit allows, the waves. */

const LANES_PER_WARP = 32;
const LIMITS = ["threads", "blocks", "registers", "shared_memory", "barriers"];

/* What stands in an SM's warp slots: a block's warps, places that the grid is too small to fill, or nothing. */
function warpSlotState(row, slot) {
    const warpsPerBlock = Math.ceil(row.threads / LANES_PER_WARP);
    const block = Math.floor(slot / warpsPerBlock);
    const resident = Math.min(row.configuration.blocks_per_sm, Math.ceil(row.blocks / row.device.sms));
    if (block >= row.configuration.blocks_per_sm) {
        return { kind: "idle" };
    }
    const last = slot % warpsPerBlock === warpsPerBlock - 1;
    const lanes = last ? LANES_PER_WARP - row.configuration.idle_lanes_per_block : LANES_PER_WARP;
    return { kind: block < resident ? "resident" : "unfilled", block, first: slot % warpsPerBlock === 0, lanes };
}

function warpSlot(row, slot, columns) {
    const size = 30;
    const pitch = 34;
    const x = (slot % columns) * pitch + 1;
    const y = Math.floor(slot / columns) * pitch + 1;
    const { kind, block, first, lanes } = warpSlotState(row, slot);
    const height = kind === "idle" ? 0 : size * lanes / LANES_PER_WARP;
    return [
        drawing("rect", { class: "slot", x, y, width: size, height: size, rx: 4 }),
        height ? drawing("rect", { class: `warp ${kind} ${block % 2 ? "odd" : "even"}`, x, y: y + size - height, width: size, height, rx: 4 }) : null,
        first ? drawing("text", { class: `slot-text ${kind}`, x: x + size / 2, y: y + size / 2 + 6 }, String(block + 1)) : null,
    ];
}

function smDrawing(row) {
    const slots = row.device.max_threads_per_sm / LANES_PER_WARP;
    const columns = slots / 4;
    const cells = Array.from({ length: slots }, (_, slot) => warpSlot(row, slot, columns));
    return drawing("svg", { class: "sm", viewBox: `0 0 ${columns * 34} ${4 * 34}`, role: "img", "aria-label": smSummary(row) }, cells.flat());
}

function smSummary(row) {
    const { blocks_per_sm: blocks, theoretical_occupancy: occupancy } = row.configuration;
    const warps = blocks * Math.ceil(row.threads / LANES_PER_WARP);
    const slots = row.device.max_threads_per_sm / LANES_PER_WARP;
    return `${plural(blocks, "block")} of ${plural(Math.ceil(row.threads / LANES_PER_WARP), "warp")} fit: `
        + `${warps} of ${slots} warp slots, ${percent(occupancy)}`;
}

function legendItem(kind, text) {
    return element("li", {}, element("span", { class: "key " + kind }), text);
}

function smLegend(row) {
    const { blocks_per_sm: blocks, idle_lanes_per_block: idleLanes } = row.configuration;
    const gridFills = Math.ceil(row.blocks / row.device.sms) >= blocks;
    return element("ul", { class: "legend" },
        legendItem("resident", "a warp of a resident block, numbered at its first"),
        gridFills ? null : legendItem("unfilled", "room that this grid is too small to fill"),
        legendItem("slot", "slot that the limit leaves empty"),
        idleLanes ? legendItem("partial", `last warp: ${plural(idleLanes, "lane")} without a thread`) : null);
}

function limitNode(name, allowed, configuration, scale) {
    const limits = configuration.limiters.includes(name);
    return element("li", { class: limits ? "limiting" : "", "data-limit": name },
        element("span", { class: "limit-name" }, limiterLabel(name)),
        element("span", { class: "limit-bar", style: { "--share": allowed === null ? 0 : Math.min(1, allowed / scale) } }),
        element("span", { class: "limit-value" }, shown(allowed, count, name === "barriers" ? "not a limit on this device, or not known" : "not known")),
        element("span", { class: "limit-mark" }, limits ? "limits" : ""));
}

function limitsChart(configuration) {
    const limits = configuration.limits ?? {};
    const known = LIMITS.map((name) => limits[name] ?? null).filter((allowed) => allowed !== null);
    const scale = Math.max(1, configuration.blocks_per_sm ?? 0, ...known);
    const others = configuration.limiters.filter((name) => !LIMITS.includes(name));
    return element("ul", { class: "limits", "aria-label": "Blocks per SM that each limit allows" },
        LIMITS.map((name) => limitNode(name, limits[name] ?? null, configuration, scale)),
        others.map((name) => limitNode(name, configuration.blocks_per_sm, configuration, scale)));
}

const LIFT_WORDS = {
    registers: (to) => `at most ${count(to)} registers a thread`,
    shared_memory: (to) => `at most ${bytes(to)} of shared memory a block`,
    threads: (to) => `${count(to)} threads a block`,
    blocks: (to) => `${count(to)} threads a block`,
    barriers: (to) => `at most ${plural(to, "barrier")} a block`,
};

function liftNode(lift) {
    const words = Object.hasOwn(LIFT_WORDS, lift.what) ? LIFT_WORDS[lift.what](lift.to) : `${limiterLabel(lift.what)}: ${lift.to}`;
    return element("li", {}, "With ", element("b", {}, words), `, ${plural(lift.blocks_per_sm, "block")} fit on an SM.`);
}

/* One lane is an SM, or for cluster launches a place for one cluster. */
function lanesOf(row) {
    const { cluster, slots, blocks_per_sm: blocksPerSm } = row.configuration;
    const laneBlocks = cluster ? product(cluster) : blocksPerSm;
    return { lanes: Math.max(1, Math.round(slots / laneBlocks)), laneBlocks };
}

/* Which waves to draw: all of a few, else the first three and the end, with the number left out between. */
function wavesDrawn(configuration) {
    const total = Math.ceil(configuration.waves);
    const tail = configuration.full_waves < total;
    if (total <= 7) {
        return { numbers: Array.from({ length: total }, (_, wave) => wave + 1), skipped: 0, tail, total };
    }
    return { numbers: [1, 2, 3, total - 1, total], skipped: total - 5, tail, total };
}

const WAVES_WIDTH = 440;

function waveColumns({ numbers, skipped }) {
    const gap = skipped ? 76 : 0;
    const width = Math.min(220, (WAVES_WIDTH - gap) / numbers.length);
    return numbers.map((number, index) => ({ number, x: index * width + (index >= 3 ? gap : 0), width: width - 3 }));
}

function fullWave(column, height) {
    return drawing("rect", { class: "wave-full", x: column.x, y: 0, width: column.width, height, rx: 2 });
}

/* Blocks of the last wave spread evenly: some lanes have one more than the others. */
function tailLanes(row, column, height) {
    const { lanes, laneBlocks } = lanesOf(row);
    const left = row.blocks - row.configuration.full_waves * row.configuration.slots;
    const units = row.configuration.cluster ? left / laneBlocks : left;
    const capacity = row.configuration.cluster ? 1 : laneBlocks;
    const pitch = height / lanes;
    const parts = [drawing("rect", { class: "wave-idle", x: column.x, y: 0, width: column.width, height, rx: 2, fill: "url(#hatch)" })];
    for (let lane = 0; lane < lanes; lane++) {
        const filled = Math.min(1, (Math.floor(units / lanes) + (lane < units % lanes ? 1 : 0)) / capacity);
        if (filled > 0) {
            parts.push(drawing("rect", { class: "wave-part", x: column.x, y: lane * pitch, width: column.width, height: pitch * filled }));
        }
    }
    return parts;
}

function laneLines(columns, lanes, height) {
    const pitch = height / lanes;
    if (pitch < 2) {
        return [];
    }
    return columns.flatMap((column) => Array.from({ length: lanes - 1 }, (_, lane) => drawing("line", {
        class: "lane-line", x1: column.x, x2: column.x + column.width, y1: (lane + 1) * pitch, y2: (lane + 1) * pitch,
    })));
}

function hatchPattern() {
    return drawing("defs", {}, drawing("pattern", { id: "hatch", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
        drawing("rect", { class: "hatch-ground", width: 7, height: 7 }), drawing("line", { class: "hatch-line", x1: 0, y1: 0, x2: 0, y2: 7 })));
}

function waveLabel(column, text, y) {
    return drawing("text", { class: "wave-label", x: column.x + column.width / 2, y }, text);
}

function skippedLabel(columns, skipped, height) {
    const middle = (columns[2].x + columns[2].width + columns[3].x) / 2;
    return [drawing("text", { class: "wave-more", x: middle, y: height / 2 - 6 }, "⋯"),
        drawing("text", { class: "wave-label", x: middle, y: height / 2 + 12 }, `${compact(skipped)} more`)];
}

function wavesDrawing(row) {
    const drawn = wavesDrawn(row.configuration);
    const columns = waveColumns(drawn);
    const { lanes } = lanesOf(row);
    const height = Math.max(90, Math.min(317, lanes * 8));
    const body = columns.flatMap((column) => (drawn.tail && column.number === drawn.total
        ? tailLanes(row, column, height) : [fullWave(column, height)]));
    const labels = columns.map((column) => waveLabel(column, drawn.tail && column.number === drawn.total
        ? `wave ${compact(column.number)}: ${percent(row.configuration.tail_fullness)} full` : `wave ${compact(column.number)}`, height + 16));
    return drawing("svg", { class: "waves", viewBox: `0 0 ${WAVES_WIDTH} ${height + 22}`, role: "img", "aria-label": wavesSummary(row) },
        hatchPattern(), body, laneLines(columns, lanes, height), labels, drawn.skipped ? skippedLabel(columns, drawn.skipped, height) : []);
}

function wavesSummary(row) {
    const { cluster, slots, waves, blocks_per_sm: blocksPerSm } = row.configuration;
    const { lanes, laneBlocks } = lanesOf(row);
    const places = cluster ? `${count(lanes)} clusters of ${laneBlocks} at once` : `${count(lanes)} SMs × ${count(blocksPerSm)}`;
    return `${plural(row.blocks, "block")} ÷ ${plural(slots, "slot")} (${places}) = ${waveCount(waves)} waves`;
}
