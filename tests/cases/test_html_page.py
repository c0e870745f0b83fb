"""The HTML report without a browser: one file, no network, and data that stays data."""
import base64
import hashlib
import html.parser
import json
import re
import subprocess

import jsonschema
import pytest

import report_fixture
import support

HTML_OF_JSON = support.BUILD / "tests" / "html_of_json"


def page_of(report):
    done = subprocess.run([HTML_OF_JSON], input=json.dumps(report, ensure_ascii=False).encode(), capture_output=True, check=True)
    return done.stdout.decode()


class Parts(html.parser.HTMLParser):
    """Elements with their attributes, and the text of each script and style."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.texts = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag in ("script", "style"):
            self.texts.append([tag, dict(attributes), ""])

    def handle_data(self, data):
        if self.cdata_elem:
            self.texts[-1][2] += data

    def text(self, tag, **attributes):
        (found,) = [text for name, has, text in self.texts if name == tag and attributes.items() <= has.items()]
        return found


def partial(schema):
    """No member that the schema does not name, but not all that it requires."""
    if isinstance(schema, dict):
        schema = {name: partial(value) for name, value in schema.items() if name != "required"}
        return {**schema, "additionalProperties": False} if isinstance(schema.get("properties"), dict) else schema
    return [partial(item) for item in schema] if isinstance(schema, list) else schema


@pytest.mark.parametrize("name", ["training", "clean", "measured", "unknowns"])
def test_made_up_reports_speak_the_schema(name):
    schema = json.loads((support.ROOT / "docs" / "schemas" / "report.schema.json").read_text())
    errors = jsonschema.Draft202012Validator(partial(schema)).iter_errors(getattr(report_fixture, name)())
    assert [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in errors] == []


REPORTS = ["training", "clean", "measured", "hostile", "unknowns"]


@pytest.mark.parametrize("name", REPORTS)
def test_page_holds_the_report_unchanged(name):
    report = getattr(report_fixture, name)()
    parts = Parts(page_of(report))
    assert json.loads(parts.text("script", id="report")) == report


@pytest.mark.parametrize("name", REPORTS)
def test_data_adds_no_element(name):
    elements = Parts(page_of(report_fixture.clean())).elements
    assert Parts(page_of(getattr(report_fixture, name)())).elements == elements


def test_no_less_than_sign_in_the_data():
    page = page_of(report_fixture.hostile())
    start = page.index('id="report">') + len('id="report">')
    assert "<" not in page[start:page.index("</script>", start)]


def test_nothing_is_fetched():
    parts = Parts(page_of(report_fixture.training()))
    for tag, attributes in parts.elements:
        for name in ("src", "href", "action", "data", "srcset", "poster"):
            assert attributes.get(name, "#").startswith(("#", "data:")), (tag, attributes)
    assert "@import" not in parts.text("style") and "url(" not in parts.text("style")
    script = parts.text("script", type="module")
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts|import)\b\s*\(", script)


def test_markup_is_never_made_from_text():
    script = Parts(page_of(report_fixture.clean())).text("script", type="module")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser", script)


def test_policy_allows_exactly_its_own_style_and_script():
    parts = Parts(page_of(report_fixture.clean()))
    (policy,) = [has["content"] for tag, has in parts.elements if has.get("http-equiv") == "Content-Security-Policy"]

    def digest(text):
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    directives = {part.split()[0]: part.split()[1:] for part in policy.split(";")}
    assert directives["default-src"] == ["'none'"]
    assert directives["script-src"] == [digest(parts.text("script", type="module"))]
    assert directives["style-src"] == [digest(parts.text("style"))]


def test_large_report_keeps_its_size():
    report = report_fixture.many(2000)
    page = page_of(report)
    assert len(page) < len(json.dumps(report)) + 120_000


@pytest.mark.parametrize("stores, shapes", [(1, 1), (3, 200)])
def test_columns_hold_what_the_json_report_says(stores, shapes, tmp_path):
    subprocess.run([support.BUILD / "tests" / "make_stores", tmp_path, str(stores), str(shapes)], check=True)

    def report(form):
        done = subprocess.run([support.BUILD / "bin" / "warpwatch", "report", "--format", form, tmp_path],
                              capture_output=True, check=True)
        return done.stdout.decode()

    packed = json.loads(Parts(report("html")).text("script", id="report"))
    assert report_fixture.unpacked(packed) == json.loads(report("json"))
