/* Launches by waves, each bar a power of two, and by what limits their occupancy. A bar is a button that
   filters the table. */

function bucketLabel(bucket) {
    return bucket <= BUCKETS_LEAST ? "less" : bucket < 0 ? `1/${count(2 ** -bucket)}` : compact(2 ** bucket);
}

function bucketRange(bucket) {
    if (bucket <= BUCKETS_LEAST) {
        return `fewer than ${bucketLabel(BUCKETS_LEAST + 1)} waves`;
    }
    return bucket >= BUCKETS_MOST ? `${bucketLabel(bucket)} waves or more` :
                                    `${bucketLabel(bucket)} to ${bucketLabel(bucket + 1)} waves`;
}

function bucketCounts(rows) {
    const counts = new Map();
    rows.filter((row) => row.bucket !== null)
        .forEach((row) => counts.set(row.bucket, (counts.get(row.bucket) || 0) + row.launches));
    return counts;
}

/* A label a bar while they fit, else one at each second bar counted from the full wave. */
function barNode(bucket, launches, most, sparse) {
    const height = launches ? (Math.log10(launches) + 0.35) / (Math.log10(most) + 0.35) : 0;
    return element(
        "button", {
            type: "button",
            class: "bar-button " + (bucket < 0 ? "sub" : "full"),
            disabled: launches === 0,
            "aria-pressed": String(state.bucket === bucket),
            "data-bucket": bucket,
            title: `${count(launches)} launches of ${bucketRange(bucket)}`,
            "aria-label": `${count(launches)} launches of ${bucketRange(bucket)}`,
            onclick: () => toggleBucket(bucket),
        },
        element("span", {class: "bar-value"}, launches ? compact(launches) : ""),
        element("span", {class: "bar-body", style: {"--height": height}}),
        element("span", {class: "bar-label"}, sparse && bucket % 2 ? "" : bucketLabel(bucket)));
}

function toggleBucket(bucket) {
    state.bucket = state.bucket === bucket ? null : bucket;
    renderHistogram();
    renderTable();
    byId("histogram").querySelector(`[data-bucket="${bucket}"]`)?.focus();
}

function renderHistogram() {
    const counts = bucketCounts(selectedRows);
    const keys = [...counts.keys()];
    const first = Math.min(-1, ...keys);
    const last = Math.max(1, ...keys);
    const most = Math.max(1, ...counts.values());
    const bars = [];
    for (let bucket = first; bucket <= last; bucket++) {
        bars.push(barNode(bucket, counts.get(bucket) || 0, most, last - first > 9));
    }
    byId("histogram").replaceChildren(...bars);
    byId("histogram").style.setProperty("--bars", bars.length);
    const unknown = totalLaunches(selectedRows.filter((row) => row.bucket === null));
    byId("histogram-note").textContent =
        "Orange: less than one wave, so part of the GPU has no block at all." +
        (unknown ? ` ${count(unknown)} launches have no known waves.` : "");
}

function toggleLimiter(limiter) {
    state.limiter = state.limiter === limiter ? null : limiter;
    byId("filter-limiter").value = state.limiter ?? "";
    renderLimiters();
    renderTable();
    byId("limiters").querySelector(`[data-limiter="${CSS.escape(limiter)}"]`)?.focus();
}

function limiterButton(limiter, share) {
    return element(
        "button", {
            type: "button",
            class: "limiter-button",
            "data-limiter": limiter,
            "aria-pressed": String(state.limiter === limiter),
            onclick: () => toggleLimiter(limiter),
        },
        element("span", {class: "limiter-name"}, limiterLabel(limiter)),
        element("span", {class: "limit-bar", style: {"--share": share}}),
        element("span", {class: "limit-value"}, percent(share)));
}

/* Full occupancy has limits too, but nothing to gain: it stands on a line of its own. */
function limiterShares() {
    const shares = new Map();
    const total = totalLaunches(selectedRows);
    for (const row of selectedRows.filter((candidate) => candidate.configuration.theoretical_occupancy < 1)) {
        row.limiters.forEach(
            (limiter) => shares.set(limiter, (shares.get(limiter) || 0) + row.launches / total));
    }
    return [...shares].sort((a, b) => b[1] - a[1]);
}

function renderLimiters() {
    const full = weightedMean(
        selectedRows,
        (row) => row.configuration.theoretical_occupancy === null ?
            null :
            Number(row.configuration.theoretical_occupancy === 1),
        launchesOf);
    byId("limiters").replaceChildren(...limiterShares().map(([limiter,
                                                              share]) => limiterButton(limiter, share)));
    byId("limiters-note").textContent = full === null ?
        "Occupancy is not known." :
        `${percent(full)} of launches can fill all warp slots of an SM. Limits that tie count each.`;
}
