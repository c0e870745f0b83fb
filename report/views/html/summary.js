/* The head of the page: what ran, what the report covers, and the run in eight numbers. */

function simulatedMark(device) {
    return device?.simulated ?
        element(
            "span", {
                class: "tag simulated",
                title: "Requests were counted by the simulated driver; kernels did not run"
            },
            "simulated") :
        null;
}

function deviceName(device) {
    return visible(device.name).replace(/ \(simulated\)$/, "");
}

function distinct(values) {
    return [...new Set(values)];
}

function longestSeconds() {
    const known = report.processes.map((process) => process.seconds).filter((seconds) => seconds !== null);
    return known.length ? Math.max(...known) : null;
}

function commandLine() {
    const commands = distinct(report.processes.map((process) => process.command));
    const more = commands.length > 1 ? ` and ${plural(commands.length - 1, "other command")}` : "";
    return [nameNode(commands[0] || "", "command-text"), more];
}

function deviceList() {
    const kinds = new Map();
    for (const device of report.devices) {
        const kind = kinds.get(device.name) || {device, number: 0};
        kind.number++;
        kinds.set(device.name, kind);
    }
    return [...kinds.values()].map(
        ({device, number}) => element(
            "span", {class: "fact"}, (number > 1 ? number + " × " : "") + deviceName(device), " ",
            simulatedMark(device)));
}

function runFacts() {
    const hosts = distinct(report.processes.map((process) => process.host));
    const ranks = distinct(report.processes.map((process) => process.rank).filter((rank) => rank !== null));
    const facts = [plural(report.processes.length, "process", "processes")];
    if (ranks.length) {
        facts.push(plural(ranks.length, "rank"));
    }
    facts.push(hosts.length === 1 ? visible(hosts[0]) : plural(hosts.length, "host"));
    facts.push(shown(longestSeconds(), (seconds) => duration(seconds * 1e9)));
    if (report.processes[0]?.start) {
        facts.push(
            visible(report.processes[0].start).replace("T", " ").replace(/\.\d+/, "").replace("Z", " UTC"));
    }
    return [...deviceList(), ...facts.map((fact) => element("span", {class: "fact"}, fact))];
}

const MEASURES = [
    ["gpu_ns", "GPU time", "--timing"],
    ["achieved_occupancy", "achieved occupancy", "--counters"],
    ["lane_utilization", "divergence", "--counters"],
    ["sectors_per_request", "coalescing", "--counters"],
    ["bank_conflicts_per_request", "bank conflicts", "--counters"],
];

const isMeasured = Object.fromEntries(
    MEASURES.map(([field]) => [field, allRows.some((row) => (row.configuration[field] ?? null) !== null)]));

function howToMeasure(field) {
    const measure = MEASURES.find(([name]) => name === field);
    return measure ? `not measured: warpwatch run ${measure[2]}` : "not known";
}

/* As in the text. */
const SAMPLES_LEAST = 8;

function ownCost() {
    const costs = report.processes.filter((process) => process.hook_ns_per_launch !== null);
    const total = costs.reduce((sum, process) => sum + process.hook_ns_per_launch * process.launches, 0);
    const launches = costs.reduce((sum, process) => sum + process.launches, 0);
    return launches ? {perLaunch: total / launches, total} : null;
}

function trustItem(good, ...children) {
    return element("li", {class: good ? "good" : "attention"}, ...children);
}

function processStates() {
    return ["running", "ended"].map((name) => {
        const number = report.processes.filter((process) => process.state === name).length;
        const meaning = name === "running" ? "still running: figures up to now" :
                                             "ended without closing its store: all its launches are here";
        return number ? trustItem(false, `${count(number)} ${meaning}`) : null;
    });
}

/* Launches that the page cannot show by configuration, or not at all. */
function missingItems() {
    const sum = (value) => report.kernels.reduce((total, kernel) => total + value(kernel), 0);
    const further = sum((kernel) => kernel.further.launches);
    const leftOut = report.totals.launches - sum((kernel) => kernel.launches);
    const damaged = report.processes.filter((process) => process.damage).length;
    return [
        leftOut ? trustItem(false, `${count(leftOut)} launches of kernels that --kernel or --top left out`) :
                  null,
        further ? trustItem(false, `${count(further)} launches known by kernel only`) : null,
        damaged ? trustItem(false, `${plural(damaged, "store")} damaged: a part was unreadable`) : null,
    ];
}

function unmeasuredItem() {
    const missing = MEASURES.filter(([field]) => !isMeasured[field]);
    const labels = missing.map(([, label]) => label).join(", ");
    const options = distinct(missing.map(([, , option]) => option)).join(" ");
    const command = element("code", {}, `warpwatch run ${options}`);
    return missing.length ? element("li", {class: "plain"}, `not measured: ${labels}`, command) : null;
}

function costItem() {
    const cost = ownCost();
    const samples = report.totals.hook_samples ?? SAMPLES_LEAST;
    if (!cost || samples < SAMPLES_LEAST) {
        return trustItem(true, "own cost ", notAvailable("too few launches were timed: the first are cold"));
    }
    return trustItem(true, `own cost ${decimal(cost.perLaunch)} ns a launch, ${duration(cost.total)} in all`);
}

function measuredItem() {
    const {measured_launches: by, measuring_ns: spent} = report.totals;
    if (!by) {
        return null;
    }
    const parts = [[by.timing, "by timing"], [by.set_a, "by counter set A"], [by.set_b, "by counter set B"]]
                      .filter(([launches]) => launches)
                      .map(([launches, how]) => `${plural(launches, "launch", "launches")} ${how}`);
    return element(
        "li", {class: "plain"}, `measured: ${parts.join(", ") || "no launch"}; that took ${duration(spent)}`);
}

function trustItems() {
    const {lost, uncounted} = report.totals;
    const requests = `${plural(uncounted, "request")} led to launches that a host cannot count`;
    return [
        trustItem(lost === 0, lost ? `${plural(lost, "launch", "launches")} lost` : "no launch lost"),
        trustItem(uncounted === 0, uncounted ? requests : "none uncountable"),
        ...missingItems(),
        ...processStates(),
        costItem(),
        measuredItem(),
        unmeasuredItem(),
    ];
}

function renderHead() {
    document.title = "warpwatch · " + visible(report.processes[0]?.command || "report").slice(0, 80);
    byId("command").replaceChildren(...commandLine());
    byId("run").replaceChildren(...runFacts());
    byId("trust").replaceChildren(...trustItems().filter(Boolean));
    const simulated = report.devices.some((device) => device.simulated);
    byId("footer").textContent =
        (simulated ? "Simulated devices: requests are real, kernels did not run. " : "") +
        "Idle SM-waves: the SMs that a launch's waves offer and no block uses, if all blocks take the same " +
        "time and spread evenly; one SM for one wave is one. " +
        `Schema ${visible(report.schema)}.`;
}

function tile(label, value, note, tone = "") {
    return element(
        "div", {class: "tile " + tone}, element("h3", {}, label), element("p", {class: "value"}, value),
        element("p", {class: "tile-note"}, note));
}

function launchTile(rows) {
    const further = report.kernels.reduce((total, kernel) => total + furtherLaunches(kernel), 0);
    const total = totalLaunches(rows) + further;
    const replayed = rows.reduce((sum, row) => sum + row.graphLaunches, 0) +
        (further ? report.kernels.reduce((sum, kernel) => sum + kernel.further.graph_launches, 0) : 0);
    return tile(
        "Launches", element("span", {title: count(total)}, total < 100000 ? count(total) : compact(total)),
        replayed ? `${percent(replayed / total)} by graph replay` : "none by graph replay");
}

/* Of the time from each thread's first launch call to its last: in the calls, or between them. */
function hostTile() {
    const {launch_call_ns: spent, gap_ns: between} = report.totals;
    if (!everythingSelected()) {
        return tile("In launch calls", notAvailable("kept for the whole run only"), "of the whole run only");
    }
    const share = spent !== null && spent + between > 0 ? percent(spent / (spent + between)) : null;
    return tile(
        "In launch calls", shown(spent, duration, "launch calls were not timed"),
        share ? `${share} of the launching threads' time` : "host time");
}

function gpuTile(rows) {
    const time = knownSum(rows, (row) => row.configuration.gpu_ns?.total);
    return tile(
        "GPU time", shown(time, duration, howToMeasure("gpu_ns")),
        time === null ? "not measured" : "in kernels, measured");
}

function renderTiles() {
    const rows = selectedRows;
    const judged = rows.filter((row) => !row.excused);
    const kernels = distinct(rows.map((row) => row.kernelIndex)).length;
    const idle = idleShare(judged);
    const few = fewerBlocksThanSms(rows);
    byId("tiles").replaceChildren(
        launchTile(rows), tile("Kernels", compact(kernels), `${plural(rows.length, "configuration")}`),
        tile(
            "SMs left idle", shown(idle, percent), "of the SM-waves that launches offered",
            idle > 0.25 ? "warn" : ""),
        tile(
            "Under one wave", shown(underOneWave(rows), percent),
            few === null ? "of launches" : `of launches; ${percent(few)} leave whole SMs idle`),
        tile("Occupancy", shown(meanOccupancy(rows), percent), "theoretical, mean over launches"), hostTile(),
        gpuTile(rows));
}
