"""Rewrites a cubin of CUDA 13 in the header conventions of CUDA 12: as_abi7.py IN OUT."""
import struct
import sys

image = bytearray(open(sys.argv[1], "rb").read())
flags, = struct.unpack_from("<I", image, 48)
image[7], image[8] = 0x33, 7
struct.pack_into("<I", image, 20, 0x80)
struct.pack_into("<I", image, 48, flags >> 8 & 0xFF | (flags >> 8 & 0xFF) << 16 | 0x500)
section_offset, = struct.unpack_from("<Q", image, 40)
section_count, = struct.unpack_from("<H", image, 60)
for section in range(section_offset, section_offset + 64 * section_count, 64):
    section_flags, = struct.unpack_from("<Q", image, section + 8)
    if section_flags & 4:  # code: one barrier
        struct.pack_into("<Q", image, section + 8, section_flags | 1 << 20)
open(sys.argv[2], "wb").write(image)
