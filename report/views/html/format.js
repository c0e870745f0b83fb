/* Numbers as people read them, the same in every locale. Each takes a known value; see shown() for the rest.
 */

const WHOLE = new Intl.NumberFormat("en-US", {maximumFractionDigits: 0});
const COMPACT = new Intl.NumberFormat("en-US", {notation: "compact", maximumSignificantDigits: 3});
const THREE_DIGITS = new Intl.NumberFormat("en-US", {maximumSignificantDigits: 3});

const product = (extent) => extent[0] * extent[1] * extent[2];

function count(value) {
    return WHOLE.format(value);
}

function compact(value) {
    return value < 1000 ? decimal(value) : COMPACT.format(value);
}

/* As few decimals as keep the value apart from the next whole number: 1.004 stays 1.004, 19.39 becomes 19.4.
 */
function apartFromWhole(value) {
    for (let digits = 1; digits < 7 && !Number.isInteger(value); digits++) {
        const rounded = Number(value.toFixed(digits));
        if (!Number.isInteger(rounded)) {
            return value.toFixed(digits);
        }
    }
    return count(value);
}

/* 0 % and 100 % are said of exact values only: 0.9999 is "99.99 %". */
function percent(fraction) {
    const value = fraction * 100;
    const rounded = Number(value.toFixed(1));
    return (rounded === 0 || rounded === 100 ? apartFromWhole(value) : String(rounded)) + " %";
}

/* 265 blocks on 264 slots are 1.004 waves: rounding to 1.0 would hide the very thing to see. */
function waveCount(waves) {
    return waves < 0.1 ? THREE_DIGITS.format(waves) :
        waves >= 100   ? count(Math.floor(waves)) :
                         apartFromWhole(waves);
}

function wavesText(waves) {
    return `${waveCount(waves)} ${waves === 1 ? "wave" : "waves"}`;
}

function decimal(value) {
    return THREE_DIGITS.format(value);
}

function bytes(value) {
    return value < 1024 || value % 1024 && value < 10240 ? count(value) + " B" :
                                                           decimal(value / 1024) + " KB";
}

function duration(nanoseconds) {
    const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]];
    if (nanoseconds >= 120e9) {
        const minutes = Math.floor(nanoseconds / 60e9);
        return minutes >= 120 ? `${count(Math.floor(minutes / 60))} h ${minutes % 60} min` :
                                `${minutes} min ${Math.floor(nanoseconds / 1e9) % 60} s`;
    }
    const [size, unit] = units.find(([least]) => nanoseconds >= least) || [1, "ns"];
    return decimal(nanoseconds / size) + " " + unit;
}

/* Trailing ones say nothing: [16, 8, 1] is "16×8". */
function shape(extent) {
    const last = extent[2] > 1 ? 3 : extent[1] > 1 ? 2 : 1;
    return extent.slice(0, last).map(count).join(" × ");
}

function plural(value, noun, more = noun + "s") {
    return count(value) + " " + (value === 1 ? noun : more);
}

function blocksOf(extent, noun) {
    const total = product(extent);
    return extent[1] * extent[2] > 1 ? `${shape(extent)} = ${plural(total, noun)}` : plural(total, noun);
}

const LIMITER_LABELS = {
    threads: "threads",
    blocks: "block slots",
    registers: "registers",
    shared_memory: "shared memory",
    barriers: "barriers",
    cluster: "cluster",
    driver: "driver",
};

function limiterLabel(limiter) {
    return Object.hasOwn(LIMITER_LABELS, limiter) ? LIMITER_LABELS[limiter] : visible(limiter);
}
