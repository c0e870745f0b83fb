"""The HTML report in a headless Chromium: what a person would click, press and see. Every wait is for a condition."""
import collections
import functools
import json
import math
import shutil
import subprocess

import pytest

import report_fixture
import support

webdriver = pytest.importorskip("selenium.webdriver", reason="python3-selenium is not installed")
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="chromium and chromium-driver are not installed")

HTML_OF_JSON = support.BUILD / "tests" / "html_of_json"
DESKTOP, PHONE = (1280, 900), (390, 844)
REPORTS = {
    "training": report_fixture.training,
    "clean": report_fixture.clean,
    "measured": report_fixture.measured,
    "hostile": report_fixture.hostile,
    "unknowns": report_fixture.unknowns,
    "many": functools.partial(report_fixture.many, 10000),
}


def page_of(report):
    done = subprocess.run([HTML_OF_JSON], input=json.dumps(report).encode(), capture_output=True, check=True)
    return done.stdout


class Page:
    """The browser with one report open."""

    def __init__(self, driver, folder):
        self.driver, self.folder = driver, folder

    def file(self, name):
        path = self.folder / f"{name}.html"
        if not path.exists():
            path.write_bytes(page_of(REPORTS[name]()))
        return path

    def open(self, name, size=DESKTOP, dark=False, address=""):
        width, height = size
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        self.media("screen", dark)
        self.driver.get("about:blank")
        self.driver.get(self.file(name).as_uri() + address)
        self.wait(lambda: self.script("return document.documentElement.dataset.ready === 'true'"))
        return self

    def media(self, kind, dark=False):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "media": kind, "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def wait(self, condition):
        return WebDriverWait(self.driver, 120).until(lambda _: condition())

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        return self.script("return [...document.querySelectorAll(arguments[0])].map((node) => node.textContent)", selector)

    def column(self, field):
        return self.texts(f"#table-body td.c-{field}")

    def tile(self, label):
        return self.script("return [...document.querySelectorAll('.tile')].find((tile) =>"
                           "tile.querySelector('h3').textContent === arguments[0]).querySelector('.value').textContent", label)

    def press(self, *keys):
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def sort(self, field):
        self.one(f"#table-head [data-field='{field}']").click()

    def choose(self, select, text):
        Select(self.one(f"#filter-{select}")).select_by_visible_text(text)

    def detail_is_open(self):
        return self.script("return document.getElementById('detail').open")

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="module")
def driver():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(service=Service(DRIVER), options=options)
    yield made
    made.quit()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture
def page(driver, folder):
    driver.get_log("browser")
    return Page(driver, folder)


def configurations(report):
    return [c for kernel in report["kernels"] for c in kernel["configurations"]]


# --- every report ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", REPORTS)
def test_opens_without_complaint_and_fits_the_width(page, name, size):
    page.open(name, size)
    assert page.complaints() == []
    assert page.script("return performance.getEntriesByType('resource').map((entry) => entry.name)") == []
    assert page.script("return document.documentElement.scrollWidth") <= size[0]
    page.all("#table-body tr[data-index]")[0].click()
    page.wait(page.detail_is_open)
    assert page.script("return document.getElementById('detail').scrollWidth") <= size[0]
    assert page.complaints() == []


# Share of brightness between text and what is behind it, as WCAG defines it; large text may do with less.
CONTRAST = """
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
function rgba(color) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
}
function luminance(color) {
    const [r, g, b] = [...rgba(color)].slice(0, 3).map((part) => part / 255)
        .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function ground(node) {
    for (let at = node; at; at = at.parentElement) {
        const color = getComputedStyle(at).backgroundColor;
        if (rgba(color)[3] === 255) { return color; }
    }
    return "white";
}
const weak = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let text; (text = walker.nextNode());) {
    const node = text.parentElement;
    const style = getComputedStyle(node);
    if (!text.data.trim() || !node.checkVisibility({checkOpacity: true, checkVisibilityCSS: true})
        || node.closest("script, style, svg, .hidden, .skip, noscript")) { continue; }
    const [a, b] = [luminance(style.color), luminance(ground(node))].sort((x, y) => y - x);
    const least = parseFloat(style.fontSize) >= 24 ? 3 : 4.5;
    if ((a + 0.05) / (b + 0.05) < least) {
        weak.add(node.tagName + "." + node.className + " " + ((a + 0.05) / (b + 0.05)).toFixed(2));
    }
}
return [...weak];
"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["training", "unknowns"])
def test_text_stands_out_from_its_ground(page, name, dark):
    page.open(name, dark=dark)
    assert page.script(CONTRAST) == []
    page.all("#table-body tr[data-index]")[0].click()
    page.wait(page.detail_is_open)
    assert page.script(CONTRAST) == []


# --- what is said ------------------------------------------------------------------------------------------


def test_head_and_tiles(page):
    report = report_fixture.training()
    page.open("training")
    assert page.one("#command").text == report["processes"][0]["command"]
    assert "2 × NVIDIA H200" in page.one("#run").text
    assert page.tile("Launches") == "1.08M"
    assert page.tile("Kernels") == str(len(report["kernels"]))
    judged = [c for c in configurations(report) if not set(c["labels"]) & {"cooperative", "persistent", "communication"}]
    offered = sum(c["launches"] * math.ceil(c["waves"]) * 132 for c in judged)
    idle = sum(c["launches"] * math.ceil(c["waves"]) * 132 * c["tail_waste"] for c in judged)
    assert page.tile("SMs left idle") == f"{round(100 * idle / offered, 1):g} %"


@pytest.mark.parametrize("name", REPORTS)
def test_simulated_devices_are_marked(page, name):
    page.open(name)
    assert "simulated" in page.one("#run").text.lower()
    assert page.one("#footer").text.startswith("Simulated devices")
    page.all("#table-body tr[data-index]")[0].click()
    page.wait(page.detail_is_open)
    assert page.texts("#detail .tag.simulated") == ["simulated"]


def test_unknown_is_never_zero(page):
    page.open("unknowns")
    (row,) = [r for r in page.all("#table-body tr[data-index]") if "mystery" in r.text]
    shown = {cell.get_attribute("data-label"): cell.get_attribute("textContent")
             for cell in row.find_elements(By.TAG_NAME, "td")}
    for label in ("Regs", "Blocks/SM", "Occupancy", "Limited by", "Waves", "Tail waste", "Idle SM-waves"):
        assert shown[label] == "n/a", label
    assert page.tile("GPU time") == page.tile("SMs left idle") == "n/a"
    row.click()
    page.wait(page.detail_is_open)
    figures = dict(zip(page.texts("#detail dt"), page.texts("#detail dd")))
    assert figures["Registers a thread"].strip() == figures["Waves"].strip() == figures["Achieved occupancy"].strip() == "n/a"
    assert set(page.texts("#detail .limit-value")) == {"n/a"}


def test_what_was_not_seen_is_told(page):
    page.open("unknowns")
    said = " ".join(page.texts("#trust li"))
    for part in ("17 launches lost", "4 requests", "1 ended", "not measured: GPU time", "warpwatch run --timing --counters"):
        assert part in said
    assert len(page.all("#trust li.attention")) == 3


def test_measured_figures_are_shown(page):
    page.open("measured")
    assert page.tile("GPU time") == "254 µs"
    assert page.column("gpu_time") == ["254 µs"] and page.column("achieved_occupancy") == ["31 %"]
    page.all("#table-body tr[data-index]")[0].click()
    page.wait(page.detail_is_open)
    figures = dict(zip(page.texts("#detail dt"), (text.strip() for text in page.texts("#detail dd"))))
    assert figures["Lane utilization"] == "55 %" and figures["Sectors a request"] == "31.5"
    assert figures["Bank conflicts a request"] == "0"


def test_findings_as_the_report_has_them(page):
    findings = report_fixture.training()["findings"]
    page.open("training")
    assert page.texts(".finding h3") == [f["title"] for f in findings]
    assert page.texts(".finding .evidence") == [f["evidence"] for f in findings]
    assert page.texts(".finding .advice") == [f["advice"] for f in findings]
    assert page.texts(".finding .finding-id") == [f["id"] for f in findings]
    page.all(".finding button.link")[1].click()
    page.wait(page.detail_is_open)
    assert page.one("#detail-name").text == report_fixture.training()["kernels"][0]["short_name"]
    page.press(Keys.ESCAPE)
    page.wait(lambda: not page.detail_is_open())
    assert page.script("return document.activeElement.closest('.finding').dataset.id") == "tail-waste"


def test_clean_report_says_so_in_one_line(page):
    page.open("clean")
    assert len(page.all("#findings li")) == 1
    assert page.one("#findings").text.startswith("Nothing to report.")


# --- table -------------------------------------------------------------------------------------------------


def number(text):
    return float(text.replace(",", ""))


def test_sorts_by_a_click_and_back_by_another(page):
    page.open("training")
    page.sort("launches")
    launches = [number(text) for text in page.column("launches")]
    assert launches == sorted(launches, reverse=True) and len(set(launches)) > 5
    assert page.one("th.c-launches").get_attribute("aria-sort") == "descending"
    page.sort("launches")
    assert [number(text) for text in page.column("launches")] == launches[::-1]
    page.sort("name")
    names = page.texts("#table-body .name-cell .name")
    assert names == sorted(names, key=str.casefold)


@pytest.mark.parametrize("mode", ["kernels", "configurations"])
def test_unknown_values_come_last_both_ways(page, mode):
    page.open("unknowns")
    page.one(f"#mode-{mode}").click()
    fields = page.script("return [...document.querySelectorAll('#table-head [data-field]')]"
                         ".filter((button) => button.checkVisibility()).map((button) => button.dataset.field)")
    assert len(fields) > 5
    for field in fields:
        for _ in range(2):
            page.sort(field)
            shown = [text == "n/a" for text in page.column(field)]
            assert shown == sorted(shown), field


def test_search_and_limiter_narrow_the_table(page):
    report = report_fixture.training()
    page.open("training")
    page.one("#search").send_keys("FLASH")
    page.wait(lambda: page.one("#table-note").text == "2 of 20 configurations")
    assert set(page.texts("#table-body .name-cell .name")) == {"flash_fwd_splitkv_kernel"}
    page.one("#search").clear()
    page.one("#search").send_keys(Keys.SPACE, Keys.BACKSPACE)
    page.choose("limiter", "shared memory")
    expected = sum("shared_memory" in c["limiters"] for c in configurations(report))
    page.wait(lambda: page.one("#table-note").text == f"{expected} of 20 configurations")


def test_a_bar_of_the_histogram_filters_the_table(page):
    report = report_fixture.training()
    by_bucket = collections.Counter()
    for c in configurations(report):
        by_bucket[max(-9, math.floor(math.log2(c["waves"])))] += c["launches"]
    page.open("training")
    bars = {int(bar.get_attribute("data-bucket")): bar for bar in page.all(".bar-button:enabled")}
    assert {bucket: number(bar.get_attribute("title").split()[0]) for bucket, bar in bars.items()} == by_bucket
    bars[1].click()
    shown = [float(text) for text in page.column("waves")]
    assert shown and all(2 <= waves < 4 for waves in shown)
    assert page.one("[data-bucket='1']").get_attribute("aria-pressed") == "true"
    page.one("#bucket-reset").click()
    assert page.one("#table-note").text == "20 configurations"


@pytest.mark.parametrize("choice, text", [("device", "1 · NVIDIA H200 · node17"), ("process", "node17 · 41201"), ("rank", "1")])
def test_filters_count_their_part_only(page, choice, text):
    report = report_fixture.training()
    page.open("training")
    page.choose(choice, text)
    expected = sum(part["launches"] for c in configurations(report) for part in c["by_process"] if part["process"] == 1)
    assert page.script("return document.querySelector('.tile .value span').title") == f"{expected:,}"
    assert len(page.column("name")) == 10
    page.script("window.dispatchEvent(new Event('beforeprint'))") # all rows, in sight or not
    assert sum(number(text) for text in page.column("launches")) == expected
    page.one("#filter-reset").click()
    assert page.one("#table-note").text == "20 configurations"


def test_kernels_are_sums_of_their_configurations(page):
    report = report_fixture.training()
    page.open("training")
    page.one("#mode-kernels").click()
    shown = dict(zip(page.texts("#table-body .name-cell .name"), map(number, page.column("launches"))))
    assert shown == {kernel["short_name"]: kernel["launches"] for kernel in report["kernels"]}


def test_ten_thousand_rows_are_few_elements(page):
    page.open("many")
    assert page.one("#table-note").text == "10,000 configurations"
    page.sort("launches")
    for _ in range(2):
        assert 10 < len(page.all("#table-body tr[data-index]")) < 100
        page.script("document.getElementById('scroller').scrollTop = 37 * 5000")
        page.wait(lambda: page.all("#table-body tr[data-index='5000']"))
    expected = sorted((c["launches"] for c in configurations(report_fixture.many(10000))), reverse=True)
    assert page.one("tr[data-index='5000'] td.c-launches").text == f"{expected[5000]:,}"
    first = page.one("tr[data-index='5000']").rect["y"] - page.one("#scroller").rect["y"]
    assert abs(first - page.one("#table-head").rect["height"]) < 2


# --- one kernel --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel, configuration", [(0, 0), (1, 0), (3, 0), (5, 0), (5, 2), (6, 0)])
def test_drawings_agree_with_the_report(page, kernel, configuration):
    report = report_fixture.training()
    row = report["kernels"][kernel]["configurations"][configuration]
    warps, blocks = math.ceil(math.prod(row["block"]) / 32), math.prod(row["grid"])
    resident = min(row["blocks_per_sm"], math.ceil(blocks / 132))
    page.open("training", address=f"#kernel-{kernel}-{configuration}")
    assert page.detail_is_open()
    assert len(page.all(".sm .slot")) == 64
    assert len(page.all(".sm .warp.resident")) == resident * warps
    assert len(page.all(".sm .warp.unfilled")) == (row["blocks_per_sm"] - resident) * warps
    for name, allowed in row["limits"].items():
        bar = page.one(f"#detail [data-limit='{name}']")
        assert bar.find_element(By.CLASS_NAME, "limit-value").text == ("n/a" if allowed is None else str(allowed))
        assert ("limiting" in bar.get_attribute("class")) == (name in row["limiters"])
    total = math.ceil(row["waves"])
    tail = row["full_waves"] < total
    drawn = total if total <= 7 else 5
    assert len(page.all(".waves .wave-full")) == drawn - tail
    assert len(page.all(".waves .wave-idle")) == tail
    assert (f"{total - 5} more" in page.one("#detail .waves").text) == (total > 7)
    assert f"{row['slots']:,} slots" in page.one("#detail .waves").get_attribute("aria-label")


def test_partial_warps_are_drawn_partial(page):
    page.open("training", address="#kernel-3-0")
    heights = page.script("return [...document.querySelectorAll('.sm .warp')].map((warp) => Number(warp.getAttribute('height')))")
    assert heights == [30] * 31 + [30 * 8 / 32]


def test_full_name_is_one_step_away(page):
    kernel = report_fixture.training()["kernels"][1]
    page.open("training", address="#kernel-1")
    page.one("#detail summary").click()
    assert page.texts("#detail .full-name .name") == [kernel["name"], kernel["mangled"]]


def test_keyboard_alone(page):
    page.open("training")
    page.press("/", *"rms")
    page.wait(lambda: page.one("#table-note").text == "2 of 20 configurations")
    page.press(Keys.TAB, Keys.TAB)
    page.script("document.activeElement.blur()")
    page.press("j", Keys.ARROW_DOWN)
    assert page.script("return document.activeElement.dataset.index") == "1"
    page.press(Keys.ENTER)
    page.wait(page.detail_is_open)
    assert page.one("#detail-name").text == "rms_norm_kernel"
    assert "device 1" in page.one("#detail .where").text
    page.press(Keys.ARROW_LEFT)
    page.wait(lambda: "device 0" in page.one("#detail .where").text)
    page.press(Keys.ESCAPE)
    page.wait(lambda: page.script("return document.activeElement.dataset.index") == "0")
    assert not page.detail_is_open()
    page.press("?")
    page.wait(lambda: page.script("return document.getElementById('keys').open"))


def test_keyboard_reaches_the_last_of_ten_thousand(page):
    page.open("many")
    page.press("j", Keys.END)
    assert page.script("return document.activeElement.dataset.index") == "9999"
    assert page.script("const row = document.activeElement.getBoundingClientRect();"
                       "const box = document.getElementById('scroller').getBoundingClientRect();"
                       "return row.bottom <= box.bottom + 1 && row.top >= box.top")
    page.press(Keys.PAGE_UP, Keys.HOME)
    assert page.script("return document.activeElement.dataset.index") == "0"


def test_phone_shows_rows_as_cards_and_sorts(page):
    page.open("training", PHONE)
    assert not page.one("#table-head").is_displayed()
    Select(page.one("#sort-by")).select_by_visible_text("Launches")
    launches = [number(text) for text in page.column("launches")]
    assert launches == sorted(launches, reverse=True)
    name, waves = (page.one(f"tr[data-index='0'] td.c-{field}").rect for field in ("name", "waves"))
    assert waves["y"] > name["y"] + name["height"] - 1
    page.one("tr[data-index='0']").click()
    page.wait(page.detail_is_open)
    assert page.one("#detail").rect["width"] == PHONE[0]


# --- a real run --------------------------------------------------------------------------------------------


def test_a_simulated_run_from_program_to_page(page, simulated, folder):
    run = simulated([support.SAMPLES / "decode"])
    support.warpwatch("report", "--format", "html", "-o", folder / "decode.html", run.output)
    report = run.report
    page.open("decode")
    assert page.complaints() == []
    assert page.script("return document.querySelector('.tile .value span').title") == f"{report['totals']['launches']:,}"
    page.script("window.dispatchEvent(new Event('beforeprint'))") # all rows, in sight or not
    assert sum(number(text) for text in page.column("launches")) == sum(c.launches for c in run.ledger_counts.values())
    assert page.texts(".finding .finding-id") == [f["id"] for f in report["findings"]]
    held = page.script("return JSON.parse(document.getElementById('report').textContent)")
    assert report_fixture.unpacked(held) == report


# --- hostile names -----------------------------------------------------------------------------------------


def test_hostile_names_are_text(page):
    page.open("hostile")
    page.one("#findings-more").click()
    for index in range(len(report_fixture.HOSTILE_NAMES)):
        page.script("location.hash = arguments[0]", f"#kernel-{index}-0")
        page.wait(lambda: page.detail_is_open() and page.script("return location.hash") == f"#kernel-{index}-0")
    assert page.script("return window.pwned") is None
    assert page.script("return document.querySelectorAll('img, svg:not(.sm):not(.waves), script').length") == 2
    assert page.complaints() == []


def test_characters_that_hide_or_reorder_are_visible(page):
    page.open("hostile")
    text = page.script("return document.body.innerText")
    for code in ("202E", "2066", "2069", "000A", "001B", "2028"):
        assert f"⟨U+{code}⟩" in text
    assert not set("\u202e\u2066\u2069\u2028\u001b") & set(text)


# --- colours and paper -------------------------------------------------------------------------------------


def test_colours_follow_the_system_and_the_button(page):
    ground = "return getComputedStyle(document.documentElement).backgroundColor"
    light = page.open("clean").script(ground)
    dark = page.open("clean", dark=True).script(ground)
    assert light != dark
    page.one("#theme").click()
    assert page.script(ground) == light
    page.one("#theme").click()
    assert page.script(ground) == dark


def test_paper_has_rows_in_full_and_no_controls(page):
    page.open("many")
    page.media("print")
    page.script("window.dispatchEvent(new Event('beforeprint'))")
    assert len(page.all("#table-body tr[data-index]")) == 200
    assert not any(node.is_displayed() for node in page.all(".no-print, .spacer"))
    page.media("screen")
    page.script("window.dispatchEvent(new Event('afterprint'))")
    assert len(page.all("#table-body tr[data-index]")) < 100


def test_a_hundred_thousand_configurations_open(page, folder, tmp_path):
    path = folder / "huge.html"
    subprocess.run([support.BUILD / "tests" / "make_stores", tmp_path, "1", "100000"], check=True)
    subprocess.run([support.BUILD / "bin" / "warpwatch", "report", "--format", "html", "-o", path, tmp_path], check=True)
    assert path.stat().st_size < 16 << 20
    page.open("huge")
    assert page.one("#table-note").text == "100,000 configurations"
    page.sort("waves")
    waves = page.column("waves")
    assert len(waves) < 200 and waves[0] == max(waves, key=float)
    assert page.complaints() == []
