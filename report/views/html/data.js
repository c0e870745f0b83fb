/* The report as rows, the page's state, and what a selection of devices and processes adds up to. */

/* By place: a value each, or which of the distinct ones, or the one that all have. */
function columnReader(column) {
    if (Array.isArray(column)) {
        return (place) => column[place];
    }
    const {values, at} = column;
    return at ? (place) => values[at[place]] : () => values[0];
}

function sharesOf(numbers) {
    const shares = [];
    for (let i = 0; i < numbers.length; i += 3) {
        const [process, launches, graph] = numbers.slice(i, i + 3);
        shares.push({process, launches, graph_launches: graph});
    }
    return shares;
}

function configurationAt(readers, place) {
    const configuration = {};
    for (const [name, read] of readers) {
        configuration[name] = read(place);
    }
    configuration.by_process = sharesOf(configuration.by_process);
    return configuration;
}

/* The page holds configurations in columns, which are a tenth as large; the rest of it reads objects. */
function unpack(packed) {
    if (packed.columns) {
        const readers = Object.entries(packed.columns).map(([name, column]) => [name, columnReader(column)]);
        let place = 0;
        for (const kernel of packed.kernels) {
            kernel.configurations = Array.from(
                {length: kernel.configurations}, () => configurationAt(readers, place++));
        }
        delete packed.columns;
    }
    return packed;
}

const report = unpack(JSON.parse(byId("report").textContent));

const state = {
    device: null,
    process: null,
    rank: null, /* null: all */
    search: "",
    limiter: null,
    bucket: null,
    mode: "configurations",
    sort: {kernels: {field: "idle", descending: true}, configurations: {field: "idle", descending: true}},
    allFindings: false,
};

/* The histogram's ends: everything below 1/256 of a wave, and from 4,096 waves up. */
const BUCKETS_LEAST = -9;
const BUCKETS_MOST = 12;

/* Labels under which idle SMs are how the kernel is meant to run, so that they are not held against it. */
const EXCUSED = new Set(["cooperative", "persistent", "communication", "concurrent"]);

/* SM-waves that a launch offers: one SM for one wave is one, whatever fits on it. */
function offeredByLaunch(configuration) {
    const sms = configuration.context_sms ?? report.devices[configuration.device].sms;
    return configuration.waves === null ? null : Math.ceil(configuration.waves) * sms;
}

function bucketOf(waves) {
    return waves > 0 ? Math.min(BUCKETS_MOST, Math.max(BUCKETS_LEAST, Math.floor(Math.log2(waves)))) : null;
}

function searchTextOf(kernel) {
    return (kernel.short_name + "\n" + kernel.name + "\n" + kernel.mangled).toLowerCase();
}

function rowOf(kernel, kernelIndex, searchText, configuration, configurationIndex) {
    const offered = offeredByLaunch(configuration);
    return {
        kernel,
        kernelIndex,
        searchText,
        configuration,
        configurationIndex,
        offered,
        blocks: product(configuration.grid),
        threads: product(configuration.block),
        device: report.devices[configuration.device],
        excused: configuration.labels.some((label) => EXCUSED.has(label)),
        limiters: configuration.limiters ?? [],
        idlePerLaunch: configuration.idle_sm_waves === null ?
            null :
            configuration.idle_sm_waves / configuration.launches,
        bucket: bucketOf(configuration.waves),
        launches: 0,
        graphLaunches: 0,
        idle: null, /* of the selection; see select() */
    };
}

const allRows = report.kernels.flatMap((kernel, kernelIndex) => {
    const searchText = searchTextOf(kernel);
    return kernel.configurations.map(
        (configuration, index) => rowOf(kernel, kernelIndex, searchText, configuration, index));
});

function groupByKernel(rows) {
    const groups = report.kernels.map(() => []);
    rows.forEach((row) => groups[row.kernelIndex].push(row));
    return groups;
}

const rowsOfKernel = groupByKernel(allRows);

function processSelected(index) {
    return (state.process === null || state.process === index) &&
        (state.rank === null || report.processes[index].rank === state.rank);
}

const everythingSelected = () => state.device === null && state.process === null && state.rank === null;

function countSelected(row) {
    const parts = row.configuration.by_process.filter((part) => processSelected(part.process));
    const inside = state.device === null || state.device === row.configuration.device;
    const sum = (key) => parts.reduce((total, part) => total + part[key], 0);
    row.launches = inside ? sum("launches") : 0;
    row.graphLaunches = inside ? sum("graph_launches") : 0;
    row.idle = row.idlePerLaunch === null ? null : row.idlePerLaunch * row.launches;
}

/* Rows with launches by the selected devices and processes. */
let selectedRows = [];

function select() {
    allRows.forEach(countSelected);
    selectedRows = allRows.filter((row) => row.launches > 0);
}

/* Σ of weight × value over rows where the value is known, divided by the weight of those; null without any.
 */
function weightedMean(rows, value, weight) {
    let sum = 0;
    let weights = 0;
    for (const row of rows) {
        const known = value(row);
        if (known !== null) {
            sum += known * weight(row);
            weights += weight(row);
        }
    }
    return weights ? sum / weights : null;
}

const launchesOf = (row) => row.launches;
const totalLaunches = (rows) => rows.reduce((total, row) => total + row.launches, 0);

/* Share of the SM-waves offered that no block used. */
function idleShare(rows) {
    return weightedMean(rows, (row) => row.configuration.tail_waste, (row) => row.offered * row.launches);
}

function underOneWave(rows) {
    return weightedMean(
        rows, (row) => row.configuration.waves === null ? null : Number(row.configuration.waves < 1),
        launchesOf);
}

function fewerBlocksThanSms(rows) {
    return weightedMean(rows, (row) => row.device ? Number(row.blocks < row.device.sms) : null, launchesOf);
}

function meanOccupancy(rows) {
    return weightedMean(rows, (row) => row.configuration.theoretical_occupancy, launchesOf);
}

/* The sum, or null when not one row knows its part. */
function knownSum(rows, value) {
    const known = rows.map(value).filter((part) => part !== null && part !== undefined);
    return known.length ? known.reduce((total, part) => total + part, 0) : null;
}

/* Launches beyond the limit of configurations: known per kernel only, so not in a part of the run. */
function furtherLaunches(kernel) {
    return everythingSelected() ? kernel.further.launches : 0;
}

function kernelRow(kernelIndex, rows) {
    const kernel = report.kernels[kernelIndex];
    return {
        kernel,
        kernelIndex,
        configuration: null,
        rows,
        searchText: searchTextOf(kernel),
        excused: rows.length > 0 && rows.every((row) => row.excused),
        launches: totalLaunches(rows) + furtherLaunches(kernel),
        graphLaunches: rows.reduce((total, row) => total + row.graphLaunches, 0),
        occupancy: meanOccupancy(rows),
        idleShare: idleShare(rows),
        underOneWave: underOneWave(rows),
        idle: knownSum(rows, (row) => row.idle),
        gpuTime: knownSum(rows, (row) => row.configuration.gpu_ns?.total),
    };
}

function kernelRows() {
    return groupByKernel(selectedRows)
        .map((rows, index) => kernelRow(index, rows))
        .filter((row) => row.launches > 0);
}

const narrowed = () => state.limiter !== null || state.bucket !== null;

function configurationMatches(row) {
    return row.searchText.includes(state.search) &&
        (state.limiter === null || row.limiters.includes(state.limiter)) &&
        (state.bucket === null || row.bucket === state.bucket);
}

/* A kernel is listed when one of its configurations would be. */
function kernelMatches(row) {
    return row.searchText.includes(state.search) && (!narrowed() || row.rows.some(configurationMatches));
}
