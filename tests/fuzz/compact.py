"""Seeds for reader_fuzz and merge_fuzz, as virtual_store.h has them, from store files: compact.py OUT STORE…"""
import pathlib
import struct
import sys

BLOCK, EXTENT_BYTES, HEADER_BYTES = 4096, 64, 288


def compact(store):
    parts, at = [store[:HEADER_BYTES]], BLOCK
    while at + EXTENT_BYTES <= len(store) and store[at:at + 4] == b"WEXT":
        size, record_bytes, _, used = struct.unpack_from("<QIII", store, at + 8)
        parts.append(store[at:at + EXTENT_BYTES + used * record_bytes])
        at += size
    return b"".join(parts)


if __name__ == "__main__":
    stores = [pathlib.Path(path).read_bytes() for path in sys.argv[2:]]
    pathlib.Path(sys.argv[1]).write_bytes(b"\0" + b"\0\0\0\0".join(map(compact, stores)))
