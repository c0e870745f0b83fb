/* The columns of the table of kernels and of configurations: what each sorts by and shows. */

function meter(fraction, kind, excused = false) {
    return element(
        "span", {class: `meter ${kind}${excused ? " excused" : ""}`, style: {"--share": fraction}},
        element("span", {class: "meter-text"}, percent(fraction)));
}

function nameCell(row) {
    const labels = row.configuration ? row.configuration.labels : [];
    return element(
        "span", {class: "name-cell", title: visible(row.kernel.name)}, nameNode(row.kernel.short_name),
        ...labels.map((label) => element("span", {class: "tag"}, visible(label))));
}

function limiterCell(row) {
    const [first, ...others] = row.limiters.map(limiterLabel);
    return element(
        "span", {title: [first, ...others].join(", ")}, others.length ? `${first} +${others.length}` : first);
}

/* Cooperative, persistent, communication and concurrent kernels are not charged for the SMs they leave idle. */
function idleCell(row) {
    return row.excused ?
        element("span", {class: "na", title: "idle SMs are how it is meant to run"}, "by design") :
        compact(row.idle);
}

const sharedOf = (row) => row.kernel.static_shared_bytes === null ?
    null :
    row.kernel.static_shared_bytes + row.configuration.dynamic_shared_bytes;
const shareOf = (part, whole) => whole ? part / whole : 0;

/* id, label, value to sort by, text; `cell` makes an element instead of text; `phone`: kept on narrow
 * screens. */
const COMMON_FIELDS = {
    name: {
        id: "name",
        label: "Kernel",
        value: (row) => row.kernel.short_name,
        cell: nameCell,
        text: true,
        phone: true
    },
    launches: {id: "launches", label: "Launches", value: (row) => row.launches, format: count, phone: true},
    graph: {
        id: "graph",
        label: "By graph",
        value: (row) => shareOf(row.graphLaunches, row.launches),
        format: percent,
        roomy: true
    },
    registers: {
        id: "registers",
        label: "Regs",
        help: "registers per thread",
        value: (row) => row.kernel.registers_per_thread,
        format: count
    },
    idle: {
        id: "idle",
        label: "Idle SM-waves",
        help: "SMs left without a block × waves, over the whole run",
        value: (row) => row.idle,
        cell: idleCell,
        phone: true
    },
};

const CONFIGURATION_FIELDS = [
    COMMON_FIELDS.name,
    {
        id: "device",
        label: "Dev",
        help: "device",
        value: (row) => row.configuration.device,
        format: count,
        optional: () => report.devices.length > 1
    },
    COMMON_FIELDS.launches,
    COMMON_FIELDS.graph,
    {id: "grid", label: "Grid", value: (row) => row.blocks, cell: (row) => shape(row.configuration.grid)},
    {id: "block", label: "Block", value: (row) => row.threads, cell: (row) => shape(row.configuration.block)},
    COMMON_FIELDS.registers,
    {
        id: "shared",
        label: "Shared",
        help: "shared memory per block, static + dynamic",
        value: sharedOf,
        format: bytes,
        roomy: true
    },
    {id: "blocks_per_sm", label: "Blocks/SM", value: (row) => row.configuration.blocks_per_sm, format: count},
    {
        id: "theoretical_occupancy",
        label: "Occupancy",
        help: "theoretical",
        value: (row) => row.configuration.theoretical_occupancy,
        cell: (row) => meter(row.configuration.theoretical_occupancy, "used"),
        phone: true
    },
    {
        id: "achieved_occupancy",
        label: "Achieved",
        value: (row) => row.configuration.achieved_occupancy,
        cell: (row) => meter(row.configuration.achieved_occupancy, "used"),
        optional: () => isMeasured.achieved_occupancy
    },
    {
        id: "limiters",
        label: "Limited by",
        text: true,
        value: (row) => row.limiters.map(limiterLabel).join(", ") || null,
        cell: limiterCell,
        phone: true
    },
    {id: "waves", label: "Waves", value: (row) => row.configuration.waves, format: waveCount, phone: true},
    {
        id: "tail_waste",
        label: "Tail waste",
        help: "share of the slots offered by the launch's waves that no block uses",
        value: (row) => row.configuration.tail_waste,
        cell: (row) => meter(row.configuration.tail_waste, "waste", row.excused),
        phone: true
    },
    {
        id: "gpu_time",
        label: "GPU time",
        value: (row) => row.configuration.gpu_ns?.total ?? null,
        format: duration,
        optional: () => isMeasured.gpu_ns
    },
    COMMON_FIELDS.idle,
];

const KERNEL_FIELDS = [
    COMMON_FIELDS.name,
    COMMON_FIELDS.launches,
    COMMON_FIELDS.graph,
    {
        id: "configurations",
        label: "Configs",
        help: "configurations",
        value: (row) => row.rows.length,
        format: count,
        phone: true
    },
    COMMON_FIELDS.registers,
    {
        id: "static_shared",
        label: "Static shared",
        value: (row) => row.kernel.static_shared_bytes,
        format: bytes
    },
    {
        id: "local",
        label: "Local",
        help: "local memory per thread: arrays and spills",
        value: (row) => row.kernel.local_bytes,
        format: bytes
    },
    {
        id: "occupancy",
        label: "Occupancy",
        help: "theoretical, mean over launches",
        value: (row) => row.occupancy,
        cell: (row) => meter(row.occupancy, "used"),
        phone: true
    },
    {
        id: "under",
        label: "Under a wave",
        help: "share of launches with less than one wave",
        value: (row) => row.underOneWave,
        format: percent,
        phone: true
    },
    {
        id: "idle_share",
        label: "Idle share",
        help: "share of the SM-waves offered by all its launches that no block uses",
        value: (row) => row.idleShare,
        cell: (row) => meter(row.idleShare, "waste", row.excused),
        phone: true
    },
    {
        id: "gpu_time",
        label: "GPU time",
        value: (row) => row.gpuTime,
        format: duration,
        optional: () => isMeasured.gpu_ns
    },
    COMMON_FIELDS.idle,
];

const fieldsOf = (mode) => (mode === "kernels" ? KERNEL_FIELDS : CONFIGURATION_FIELDS)
                               .filter((field) => !field.optional || field.optional());
