"""What a power cut leaves of a real store: cut, pages of zeros, pages of an older or another time, flipped bits. The reader
never crashes, shows what is whole, and says that something is missing."""
import json
import random
import subprocess

import pytest
import support

PAGE = 4096
VARIANTS = 1000 if support.ALL_LENGTHS else 40


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """(bytes of a store with graphs, many shapes and several threads, launches in the ledger)"""
    directory = tmp_path_factory.mktemp("whole")
    run = support.run_simulated([support.BUILD / "tests" / "clients" / "stress", "4", "300"], directory)
    store, = run.stores
    return store.read_bytes(), sum(count.launches for count in run.ledger_counts.values())


def cut(data, moment):
    return data[:moment.randrange(len(data))]


def cut_between_pages(data, moment):
    return data[:PAGE * moment.randrange(len(data) // PAGE)]


def zero_pages(data, moment):
    damaged = bytearray(data)
    for page in moment.sample(range(len(data) // PAGE), moment.choice([1, 1, 2, 5])):
        damaged[PAGE * page:PAGE * (page + 1)] = bytes(PAGE)
    return bytes(damaged)


def swap_pages(data, moment):
    damaged = bytearray(data)
    one, other = (slice(PAGE * page, PAGE * (page + 1)) for page in moment.sample(range(len(data) // PAGE), 2))
    damaged[one], damaged[other] = data[other], data[one]
    return bytes(damaged)


def flip_bits(data, moment):
    damaged = bytearray(data)
    for _ in range(moment.choice([1, 1, 3, 30])):
        damaged[moment.randrange(len(data))] ^= 1 << moment.randrange(8)
    return bytes(damaged)


def read(path, name="json"):
    done = subprocess.run([support.WARPWATCH, "report", "--format", name, path], capture_output=True, text=True,
                          env=support.clean_environment(), timeout=60)
    assert done.returncode in (0, 3), (done.returncode, done.stderr[-2000:])
    assert len(done.stderr.splitlines()) <= 1 and all(line.startswith("warpwatch: ") for line in done.stderr.splitlines())
    return done.stdout if done.returncode == 0 else None


@pytest.mark.parametrize("damage", [cut, cut_between_pages, zero_pages, swap_pages, flip_bits])
def test_a_damaged_store(tmp_path, whole, damage):
    data, launches = whole
    path = tmp_path / "warpwatch.node.1.1.ww"
    moment = random.Random(damage.__name__)
    shown = 0
    for _ in range(VARIANTS):
        path.write_bytes(damage(data, moment))
        page = read(path)
        if page is None:
            continue
        report = json.loads(page)
        process, = report["processes"]
        found = report["totals"]["launches"] + report["totals"]["lost"]
        if damage is not flip_bits:  # a count has no check: a flipped bit of it is another count
            assert report["totals"]["launches"] <= launches
            assert found == launches or process["damage"], (found, launches)
        shown += report["totals"]["launches"] > 0
    assert shown > VARIANTS // 10
    for name in ("text", "csv", "html"):  # the last variant in every format
        read(path, name)
