#!/usr/bin/env python3
"""Writes exports.def from a CUDA toolkit: names from its stub libcuda.so, versions from cudaTypedefs.h.

    ./update_exports.py [CUDA_HOME] > exports.def

A typedef PFN_<name>_v<version>[_ptsz|_ptds] says since which CUDA version cuGetProcAddress knows a variant;
the n-th version of a name is its n-th exported symbol: <name>, <name>_v2, <name>_v3 … The stub lacks the functions that
share with OpenGL, EGL and VDPAU, which the real library has: their symbols follow from the versions."""
import re
import subprocess
import sys

HEAD = """\
/* EXPORT(symbol, name, version, default_stream): every function that libcuda.so.1 exports in CUDA 13.0.
 * name and version: what cuGetProcAddress finds it by. Made by update_exports.py from the toolkit's headers. */"""
INTEROPERABILITY = ("cudaGLTypedefs.h", "cudaEGLTypedefs.h", "cudaVDPAUTypedefs.h")
ELSEWHERE = {"cuWGLGetDevice", "cuEventCreateFromEGLSync"}  # Windows, Tegra
FLAVOURS = {"_ptsz": "PER_THREAD", "_ptds": "PER_THREAD", "": "LEGACY"}
SYMBOL = re.compile(r"(cu\w+?)(?:_v(\d+))?(_ptsz|_ptds)?")


def exported_symbols(home):
    listing = subprocess.run(["nm", "-D", f"{home}/lib64/stubs/libcuda.so"], text=True, check=True, capture_output=True)
    return [line.split()[2] for line in listing.stdout.splitlines() if " T cu" in line]


def typedef_versions(home, headers):
    """{(name, flavour suffix): [version, …]} in ascending order."""
    versions = {}
    for header in headers:
        with open(f"{home}/include/{header}", encoding="utf-8") as text:
            found = set(re.findall(r"\*\s*PFN_(cu\w+?)_v(\d+)(_ptsz|_ptds)?\)", text.read()))
        for name, version, suffix in found:
            versions.setdefault((name, suffix), []).append(int(version))
    return {key: sorted(list_) for key, list_ in versions.items()}


def symbols_of(versions):
    """The symbols that names with these versions have; a flavour is one of the newest."""
    for (name, suffix), known in versions.items():
        newest = len(versions[name, ""])
        for number in range(1, len(known) + 1) if not suffix else [newest]:
            yield name + (f"_v{number}" if number > 1 else "") + suffix


def main():
    home = sys.argv[1] if len(sys.argv) > 1 else "/usr/local/cuda"
    interoperability = {key: versions for key, versions in typedef_versions(home, INTEROPERABILITY).items()
                        if key[0] not in ELSEWHERE}
    versions = typedef_versions(home, ("cudaTypedefs.h", "cudaProfilerTypedefs.h")) | interoperability
    variants = {}
    for symbol in [*exported_symbols(home), *symbols_of(interoperability)]:
        name, number, suffix = SYMBOL.fullmatch(symbol).groups()
        variants.setdefault((name, suffix or ""), []).append((int(number or 1), symbol))
    lines = []
    for (name, suffix), symbols in variants.items():
        known = versions[name, suffix]
        if len(known) != len(symbols):
            sys.exit(f"{name}{suffix}: {len(symbols)} symbols but {len(known)} versions")
        for (_, symbol), version in zip(sorted(symbols), known):
            lines.append(f"EXPORT({symbol}, {name}, {version}, {FLAVOURS[suffix]})")
    print(HEAD, *sorted(lines), sep="\n")


if __name__ == "__main__":
    main()
