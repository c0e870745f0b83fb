/* The drawings of one configuration: the SM's warp slots, the blocks that each limit allows, the waves. */

const LANES_PER_WARP = 32;
const LIMITS = ["threads", "blocks", "registers", "shared_memory", "barriers"];

function warpSlots(row) {
    return Math.floor(row.device.max_threads_per_sm / LANES_PER_WARP);
}

/* What stands in an SM's warp slots: a block's warps, places that the grid is too small to fill, or nothing.
 */
function warpSlotState(row, slot) {
    const warpsPerBlock = Math.ceil(row.threads / LANES_PER_WARP);
    const block = Math.floor(slot / warpsPerBlock);
    const resident = Math.min(row.configuration.blocks_per_sm, Math.ceil(row.blocks / row.device.sms));
    if (block >= row.configuration.blocks_per_sm) {
        return {kind: "idle"};
    }
    const last = slot % warpsPerBlock === warpsPerBlock - 1;
    const lanes = last ? LANES_PER_WARP - row.configuration.idle_lanes_per_block : LANES_PER_WARP;
    return {
        kind: block < resident ? "resident" : "unfilled",
        block,
        first: slot % warpsPerBlock === 0,
        lanes
    };
}

function warpSlot(row, slot, columns) {
    const size = 30;
    const pitch = 34;
    const x = (slot % columns) * pitch + 1;
    const y = Math.floor(slot / columns) * pitch + 1;
    const {kind, block, first, lanes} = warpSlotState(row, slot);
    const height = kind === "idle" ? 0 : size * lanes / LANES_PER_WARP;
    return [
        drawing("rect", {class: "slot", x, y, width: size, height: size, rx: 4}),
        height ? drawing("rect", {
            class: `warp ${kind} ${block % 2 ? "odd" : "even"}`,
            x,
            y: y + size - height,
            width: size,
            height,
            rx: 4
        }) :
                 null,
        first ? drawing(
                    "text", {class: `slot-text ${kind}`, x: x + size / 2, y: y + size / 2 + 6},
                    String(block + 1)) :
                null,
    ];
}

function smDrawing(row) {
    const slots = warpSlots(row);
    const columns = Math.ceil(slots / 4);
    const cells = Array.from({length: slots}, (_, slot) => warpSlot(row, slot, columns));
    const box = {viewBox: `0 0 ${columns * 34} ${4 * 34}`, role: "img", "aria-label": smSummary(row)};
    return drawing("svg", {class: "sm", ...box}, cells.flat());
}

function smSummary(row) {
    const {blocks_per_sm: blocks, theoretical_occupancy: occupancy} = row.configuration;
    const warps = blocks * Math.ceil(row.threads / LANES_PER_WARP);
    const slots = warpSlots(row);
    return `${plural(blocks, "block")} of ${plural(Math.ceil(row.threads / LANES_PER_WARP), "warp")} fit: ` +
        `${warps} of ${slots} warp slots, ${percent(occupancy)}`;
}

function legendItem(kind, text) {
    return element("li", {}, element("span", {class: "key " + kind}), text);
}

function smLegend(row) {
    const {blocks_per_sm: blocks, idle_lanes_per_block: idleLanes, theoretical_occupancy: occupancy} =
        row.configuration;
    const gridFills = Math.ceil(row.blocks / row.device.sms) >= blocks;
    return element(
        "ul", {class: "legend"}, legendItem("resident", "a warp of a resident block, numbered at its first"),
        gridFills ? null : legendItem("unfilled", "room that this grid is too small to fill"),
        occupancy < 1 ? legendItem("slot", "slot that the limit leaves empty") : null,
        idleLanes ? legendItem("partial", `last warp: ${plural(idleLanes, "lane")} without a thread`) : null);
}

function limitNode(name, allowed, row, scale) {
    const limits = row.limiters.includes(name);
    const share = allowed === null ? 0 : Math.min(1, allowed / scale);
    const unknown = name === "barriers" ? "not a limit on this device, or not known" : "not known";
    return element(
        "li", {class: limits ? "limiting" : "", "data-limit": name},
        element("span", {class: "limit-name"}, limiterLabel(name)),
        element("span", {class: "limit-bar", style: {"--share": share}}),
        element("span", {class: "limit-value"}, shown(allowed, count, unknown)),
        element("span", {class: "limit-mark"}, limits ? "limits" : ""));
}

/* Bars end at the block slots of an SM: what a limit allows beyond them makes no difference. */
function limitsChart(row) {
    const {configuration} = row;
    const limits = configuration.limits ?? {};
    const scale = limits.blocks || configuration.blocks_per_sm || 1;
    const others = row.limiters.filter((name) => !LIMITS.includes(name));
    const driver = (name) => name === "driver" ? configuration.blocks_per_sm : null;
    return element(
        "ul", {class: "limits", "aria-label": "Blocks per SM that each limit allows"},
        LIMITS.map((name) => limitNode(name, limits[name] ?? null, row, scale)),
        others.map((name) => limitNode(name, driver(name), row, scale)));
}

const LIFT_WORDS = {
    registers: (to) => `at most ${plural(to, "register")} a thread`,
    shared_memory: (to) => `at most ${count(to)} bytes of shared memory a block`,
    barriers: (to) => `at most ${plural(to, "barrier")} a block`,
    carveout: (to) => `a shared-memory carve-out of ${count(to)} %`,
    threads: (to) => `blocks of ${plural(to, "thread")}`,
};

function liftNode(lift) {
    const words = Object.hasOwn(LIFT_WORDS, lift.what) ? LIFT_WORDS[lift.what](lift.to) : visible(lift.what);
    return element(
        "li", {}, "With ", element("b", {}, words), `: ${plural(lift.blocks_per_sm, "block")} on an SM`);
}

function liftList(row) {
    const lifts = row.configuration.lift ?? [];
    return lifts.length ? element("ul", {class: "lift"}, lifts.map(liftNode)) : null;
}

/* One lane is an SM, or for cluster launches a place for one cluster. */
function lanesOf(row) {
    const {cluster, slots, blocks_per_sm: blocksPerSm} = row.configuration;
    const laneBlocks = cluster ? product(cluster) : blocksPerSm;
    return {lanes: Math.max(1, Math.round(slots / laneBlocks)), laneBlocks};
}

/* Which waves to draw: all of a few, else the first three and the end, with the number left out between. */
function wavesDrawn(configuration) {
    const total = Math.ceil(configuration.waves);
    const tail = configuration.full_waves < total;
    if (total <= 7) {
        return {numbers: Array.from({length: total}, (_, wave) => wave + 1), skipped: 0, tail, total};
    }
    return {numbers: [1, 2, 3, total - 1, total], skipped: total - 5, tail, total};
}

const WAVES_WIDTH = 440;
/* More lanes than any GPU has SMs: a made-up figure, drawn as one. */
const LANES_DRAWN = 1024;

function waveColumns({numbers, skipped}) {
    const gap = skipped ? 76 : 0;
    const width = Math.min(220, (WAVES_WIDTH - gap) / numbers.length);
    return numbers.map(
        (number, index) => ({number, x: index * width + (index >= 3 ? gap : 0), width: width - 3}));
}

function waveRect(kind, column, y, height) {
    return drawing("rect", {class: kind, x: column.x, y, width: column.width, height});
}

/* How full each lane of the last wave is: blocks spread evenly, so some lanes have one more than the others.
 */
function lanesFilled(row) {
    const {lanes, laneBlocks} = lanesOf(row);
    const left = row.blocks - row.configuration.full_waves * row.configuration.slots;
    const units = row.configuration.cluster ? left / laneBlocks : left;
    const capacity = row.configuration.cluster ? 1 : laneBlocks;
    if (lanes > LANES_DRAWN) {
        return [units / lanes / capacity];
    }
    const each = Math.floor(units / lanes);
    const more = units % lanes;
    return Array.from({length: lanes}, (_, lane) => Math.min(1, (each + (lane < more ? 1 : 0)) / capacity));
}

function lastWave(row, column, height) {
    const filled = lanesFilled(row);
    const pitch = height / filled.length;
    const idle = waveRect("wave-idle", column, 0, height);
    idle.setAttribute("fill", "url(#hatch)");
    const used = filled.map(
        (share, lane) => share ? waveRect("wave-part", column, lane * pitch, share * pitch) : null);
    return [idle, ...used];
}

function laneLine(column, y) {
    return drawing("line", {class: "lane-line", x1: column.x, x2: column.x + column.width, y1: y, y2: y});
}

function laneLines(columns, lanes, height) {
    const pitch = height / lanes;
    const between = pitch < 2 ? [] : Array.from({length: lanes - 1}, (_, lane) => (lane + 1) * pitch);
    return columns.flatMap((column) => between.map((y) => laneLine(column, y)));
}

function hatchPattern() {
    const ground = drawing("rect", {class: "hatch-ground", width: 7, height: 7});
    const line = drawing("line", {class: "hatch-line", x1: 0, y1: 0, x2: 0, y2: 7});
    const units = {patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"};
    return drawing(
        "defs", {}, drawing("pattern", {id: "hatch", width: 7, height: 7, ...units}, ground, line));
}

function waveText(column, text, y) {
    return drawing("text", {class: "wave-label", x: column.x + column.width / 2, y}, text);
}

function waveLabels(row, column, isTail, height) {
    const number = waveText(column, `wave ${compact(column.number)}`, height + 16);
    const fullness = () => waveText(column, `${percent(row.configuration.tail_fullness)} full`, height + 32);
    return isTail ? [number, fullness()] : [number];
}

function skippedLabel(columns, skipped, height) {
    const middle = (columns[2].x + columns[2].width + columns[3].x) / 2;
    return [
        drawing("text", {class: "wave-more", x: middle, y: height / 2 - 6}, "⋯"),
        drawing("text", {class: "wave-label", x: middle, y: height / 2 + 12}, `${compact(skipped)} more`)
    ];
}

function wavesDrawing(row) {
    const drawn = wavesDrawn(row.configuration);
    const columns = waveColumns(drawn);
    const {lanes} = lanesOf(row);
    const height = Math.max(90, Math.min(317, lanes * 8));
    const isTail = (column) => drawn.tail && column.number === drawn.total;
    const body = columns.flatMap(
        (column) =>
            isTail(column) ? lastWave(row, column, height) : waveRect("wave-full", column, 0, height));
    const labels = columns.flatMap((column) => waveLabels(row, column, isTail(column), height));
    const box = {viewBox: `0 0 ${WAVES_WIDTH} ${height + 38}`, role: "img", "aria-label": wavesSummary(row)};
    return drawing(
        "svg", {class: "waves", ...box}, hatchPattern(), body, laneLines(columns, lanes, height), labels,
        drawn.skipped ? skippedLabel(columns, drawn.skipped, height) : []);
}

function wavesSummary(row) {
    const {cluster, slots, waves, blocks_per_sm: blocksPerSm} = row.configuration;
    const {lanes, laneBlocks} = lanesOf(row);
    const clusters = `${count(lanes)} clusters of ${laneBlocks} at once`;
    const places = cluster ? clusters : `${count(lanes)} SMs × ${count(blocksPerSm)}`;
    return `${plural(row.blocks, "block")} ÷ ${plural(slots, "slot")} (${places}) = ${wavesText(waves)}`;
}
