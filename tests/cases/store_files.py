"""Store files from Python: a second, naive reading of shim/store_format.h, to check the first against, and a writer
for stores that no shim would write."""
import struct
from collections import namedtuple

BLOCK = 4096
EXTENT_MAGIC = 0x54584557
STRINGS, DEVICES, KERNELS, CONFIGURATIONS, SHARDS, COUNTERS, BODIES, NODES, MEASUREMENTS, TRACE, STREAMS = range(1, 12)
DIRECT, RUNTIME, REPLAY, GRAPH_DIRECT, FURTHER_DIRECT, FURTHER_RUNTIME, FURTHER_GRAPH, UNCOUNTED = range(8)
NONE = 0xFFFFFFFF

STRING = "QI4x"
EXTENT = struct.Struct("<IIQIIII32x")
DEVICE = struct.Struct("<II16s128s16IQQI4x")
KERNEL = struct.Struct("<" + 2 * STRING + "7I3III8x")
CONFIGURATION = struct.Struct("<II9III Ii3IIIIIQII24x")
COUNTER = struct.Struct("<IIQQII")
BODY = struct.Struct("<II3IIII")
NODE = struct.Struct("<II")
SHARD = struct.Struct("<IIQQ24QQ32x")
TRACED = struct.Struct("<IIQ")
RECORD_BYTES = {STRINGS: 1, DEVICES: DEVICE.size, KERNELS: KERNEL.size, CONFIGURATIONS: CONFIGURATION.size,
                COUNTERS: COUNTER.size, BODIES: BODY.size, NODES: NODE.size,
                SHARDS: SHARD.size, TRACE: TRACED.size, STREAMS: 8}

Row = namedtuple("Row", "kernel device grid block cluster dynamic_shared_bytes")


def check(data):
    """FNV-1a."""
    total = 2166136261
    for byte in data:
        total = (total ^ byte) * 16777619 & 0xFFFFFFFF
    return total


def read_records(data):
    """{kind: [bytes of a record]} of an undamaged store."""
    records, at = {}, BLOCK
    while at + EXTENT.size <= len(data):
        magic, kind, size, record_bytes, _, used, _ = EXTENT.unpack_from(data, at)
        if magic != EXTENT_MAGIC:
            break
        first = at + EXTENT.size
        records.setdefault(kind, []).extend(
            data[first + i * record_bytes:first + (i + 1) * record_bytes] for i in range(used if record_bytes > 1 else 0))
        at += size
    return records


def read(path):
    """{Row: (launches, by graph)} of an undamaged store, by the shortest way there is."""
    data = path.read_bytes()
    records = read_records(data)
    names = []
    for kernel in records.get(KERNELS, []):
        offset, size = struct.unpack_from("<QI", kernel)
        names.append(data[offset:offset + size].decode())
    rows, alias = [], []
    for raw in records.get(CONFIGURATIONS, []):
        kernel, device, *shape, shared, _flags = struct.unpack_from("<II9III", raw)
        rows.append(Row(names[kernel], device, tuple(shape[0:3]), tuple(shape[3:6]), tuple(shape[6:9]), shared))
        alias.append(CONFIGURATION.unpack(raw)[-1])
    counts = {}

    def add(index, launches, graph):
        row = rows[alias[index] - 1 if alias[index] else index]
        total, by_graph = counts.get(row, (0, 0))
        counts[row] = (total + launches, by_graph + (launches if graph else 0))

    for counter in records.get(COUNTERS, []):
        target, _, launches, *_ = COUNTER.unpack(counter)
        kind, index = target >> 28, target & 0x0FFFFFFF
        if kind in (DIRECT, RUNTIME, GRAPH_DIRECT):
            add(index, launches, kind == GRAPH_DIRECT)
        elif kind == REPLAY:
            first, nodes = BODY.unpack(records[BODIES][index])[:2]
            for node in records[NODES][first:first + nodes]:
                configuration, times = NODE.unpack(node)
                add(configuration, launches * times, True)
    return {row: count for row, count in counts.items() if count[0]}


class Store:
    """A finished process of one second on host "node1"; every part can be changed before bytes()."""

    def __init__(self, pid=1, rank=-1, state=2, command=b"python\0train.py\0", host=b"node1"):
        self.pid, self.rank, self.state, self.host = pid, rank, state, host
        self.records = {kind: [] for kind in RECORD_BYTES}
        self.strings = b""
        self.features = 0
        self.lost = 0
        self.start_realtime_ns = 1760000000000000000 + pid
        self.command = self.string(command)

    def string(self, text):
        at = BLOCK + EXTENT.size + len(self.strings)
        self.strings += text
        return at, len(text)

    def append(self, kind, record):
        self.records[kind].append(record)
        return len(self.records[kind]) - 1

    def device(self, ordinal=0, name=b"NVIDIA H200 (simulated)", sms=132, capability=90):
        limits = [sms, 32, 2048, 1024, 32, 65536, 65536, 228 << 10, 48 << 10, 227 << 10, 1024, 0, 0, 0, 0, 0]
        record = DEVICE.pack(ordinal, capability, bytes([17, ordinal]) + bytes(14), name, *limits, 0, 0x107FF, 0)
        return self.append(DEVICES, record[:-8] + struct.pack("<II", check(record[:-8]), 0))

    def kernel(self, name, registers=32, static_shared=0, local=0, valid=1, image=""):
        name = name if isinstance(name, bytes) else name.encode()
        strings = struct.pack("<" + 2 * STRING, *self.string(name), *self.string(image.encode()))
        return self.append(KERNELS, strings + struct.pack("<7I3III8x", registers, static_shared, local, 0, 1024, 90, 90,
                                                          0, 0, 0, valid, check(strings)))

    def configuration(self, kernel, device=0, grid=(1, 1, 1), block=(32, 1, 1), cluster=(1, 1, 1), shared=0, flags=0,
                      valid=1, driver_blocks=0, same_as=0):
        shape = struct.pack("<II9III", kernel, device, *grid, *block, *cluster, shared, flags)
        rest = struct.pack("<Ii3IIIIIQII24x", 0, -1, 0, 0, 0, valid, 0, driver_blocks, 0, 0, check(shape), same_as)
        return self.append(CONFIGURATIONS, shape + rest)

    def count(self, kind, index, launches):
        self.append(COUNTERS, COUNTER.pack(kind << 28 | index, NONE, launches, 0, 0, 0))

    def body(self, *nodes, beside=None):
        """Nodes are (configuration, times), the last `beside` of them side by side with others; None: not known."""
        first = len(self.records[NODES])
        for node in nodes:
            self.append(NODES, NODE.pack(*node))
        head = struct.pack("<II3I", first, len(nodes), 0, 0, 0)
        head += struct.pack("<II", check(head), beside or 0)
        return self.append(BODIES, head + struct.pack("<I", 0 if beside is None else check(head) | 1))

    def _extent(self, kind, body, count):
        size = -(-(EXTENT.size + len(body)) // BLOCK) * BLOCK
        head = EXTENT.pack(EXTENT_MAGIC, kind, size, RECORD_BYTES[kind], count, count, 0)
        return (head + body).ljust(size, b"\0")

    def bytes(self):
        extents = self._extent(STRINGS, self.strings, len(self.strings))
        for kind, records in self.records.items():
            if records:
                extents += self._extent(kind, b"".join(records), len(records))
        fixed = struct.pack("<8sIIQQQQIiiIII64s40s" + 2 * STRING, b"WARPWTCH", 1, BLOCK, self.features, 1000 + self.pid,
                            self.start_realtime_ns, 5000000000, self.pid, self.rank, -1, 0, 13000, 0, self.host,
                            b"00000000-0000-0000-0000-000000000001", *self.command, 0, 0)
        live = struct.pack("<IQQQQI4xQQQQ", self.state, BLOCK + len(extents), 0, 6000000000, self.lost, 0, 0, 0, 0, 0)
        return (fixed + struct.pack("<I", check(fixed)) + live).ljust(BLOCK, b"\0") + extents

    def save(self, directory, name=None):
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / (name or f"warpwatch.node1.{self.pid}.{self.start_realtime_ns}.ww")
        path.write_bytes(self.bytes())
        return path
