/* Everything known about one configuration, in words and numbers: what was launched, what was measured, by
   which process. */

const PROCESSES_SHOWN = 40;

function source(configuration, field) {
    const name = configuration.sources?.[field];
    return name ? element("span", {class: "source", title: "where the figure comes from"}, visible(name)) :
                  null;
}

function fact(label, value, ...more) {
    return element(
        "div", {class: "fact-item"}, element("dt", {}, label), element("dd", {}, value, " ", ...more));
}

function factSection(title, facts) {
    return element("section", {}, element("h3", {}, title), element("dl", {class: "facts"}, facts));
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
    const {configuration} = row;
    return [
        fact(
            "Launches", count(row.launches),
            row.graphLaunches ? `(${percent(row.graphLaunches / row.launches)} by graph replay)` : ""),
        fact("Through libcudart", count(configuration.runtime_launches)),
        fact("Grid", blocksOf(configuration.grid, "block")),
        fact("Block", blocksOf(configuration.block, "thread")),
        fact("Cluster", configuration.cluster ? shape(configuration.cluster) : "none"),
        fact("Dynamic shared", bytes(configuration.dynamic_shared_bytes)),
        fact(
            "Blocks per SM", shown(configuration.blocks_per_sm, count),
            source(configuration, "blocks_per_sm")),
        fact(
            "Theoretical occupancy", shown(configuration.theoretical_occupancy, percent),
            source(configuration, "theoretical_occupancy")),
        fact("Waves", shown(configuration.waves, waveCount), source(configuration, "waves")),
        fact("Tail waste", shown(configuration.tail_waste, percent), source(configuration, "tail_waste")),
        fact("Idle lanes a block", shown(configuration.idle_lanes_per_block, count)),
        fact("Idle SM-waves a launch", row.excused ? "by design" : shown(row.idlePerLaunch, apartFromWhole)),
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
        ...MEASURED_FACTS.map(
            ([field, label, format]) => fact(
                label, shown(configuration[field], format, howToMeasure(field)),
                source(configuration, field))),
    ];
}

/* The same launch judged on the GPU that --device named. */
function elsewherePart(row) {
    const there = row.configuration.elsewhere;
    if (!there) {
        return null;
    }
    const limiters = (names) => names.map(limiterLabel).join(", ");
    return factSection(`On ${visible(report.elsewhere.name)}`, [
        fact("Blocks per SM", shown(there.blocks_per_sm, count)),
        fact("Theoretical occupancy", shown(there.theoretical_occupancy, percent)),
        fact("Limited by", shown(there.limiters, limiters)),
        fact("Waves", shown(there.waves, waveCount)),
        fact("Tail waste", shown(there.tail_waste, percent)),
    ]);
}

function processRow(part) {
    const process = report.processes[part.process];
    const number = (content) => element("td", {class: "number"}, content);
    return element(
        "tr", {}, element("td", {}, `${visible(process.host)} · ${process.pid}`),
        number(shown(process.rank, String, "no rank in the environment")), number(count(part.launches)),
        number(count(part.graph_launches)));
}

function processTable(row) {
    const most = [...row.configuration.by_process].sort((a, b) => b.launches - a.launches);
    const heads = ["Process", "Rank", "Launches", "By graph"].map(
        (label, index) => element("th", {scope: "col", class: index ? "number" : ""}, label));
    const rest = most.length - PROCESSES_SHOWN;
    return [
        element(
            "table", {class: "small"}, element("thead", {}, element("tr", {}, heads)),
            element("tbody", {}, most.slice(0, PROCESSES_SHOWN).map(processRow))),
        rest > 0 ? element("p", {class: "note"}, `and ${plural(rest, "process", "processes")} more`) : null,
    ];
}
