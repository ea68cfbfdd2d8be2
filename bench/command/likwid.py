#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The streams of `coset bench --scaling` beside likwid-bench's on the same cores, with arrays of the same size, in turns.

usage: likwid.py COSET [TURNS]

Needs Debian's package likwid. Of each node, all cores: the ratio of the medians' pairs, coset's / likwid's. likwid-bench asks for no
huge pages by itself; glibc does so for it here, as coset's arrays have them.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

KERNELS = {"read": "load", "copy": "copy", "triad": "stream"}


def widest():
    with open("/proc/cpuinfo", encoding="utf-8") as facts:
        flags = facts.read()
    return "_avx512" if "avx512f" in flags else "_avx" if " avx " in flags else ""


def ours(coset):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "streams.json")
        subprocess.run([coset, "bench", "barrier", "--scaling", "-t", "1", "--rounds", "5", "--json", file], check=True,
                       stdout=subprocess.DEVNULL)
        with open(file, encoding="utf-8") as text:
            found = json.load(text)
    cores = {f"node {node['node']}": node["cores"] for node in found["machine"]["nodes"]}
    return [(cores[stream["where"]], stream) for stream in found["streams"] if stream["where"] in cores]


def theirs(kernel, node, cores, array_bytes):
    """GB/s. A work group's size is that of all its arrays."""
    arrays = {"load": 1, "copy": 2, "stream": 3}[kernel]
    size = array_bytes * len(cores) * arrays // 1000
    group = f"M{node}:{size}kB:{len(cores)}"
    told = subprocess.run(["likwid-bench", "-t", kernel + widest(), "-W", group, "-s", "1"], check=True,
                          capture_output=True, text=True, env={**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}).stdout
    return float(re.search(r"MByte/s:\s+([\d.]+)", told)[1]) / 1000


def main():
    coset, turns = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7
    found = {}
    for _ in range(turns):
        for cores, stream in ours(coset):
            for name, kernel in KERNELS.items():
                pair = stream[name]["median"], theirs(kernel, stream["where"].split()[1], cores, stream["array_bytes"])
                found.setdefault((stream["where"], name), []).append(pair)
    for (where, name), pairs in found.items():
        ratios = sorted(a / b for a, b in pairs)
        print(f"{where} {name}: coset {statistics.median(a for a, _ in pairs):.1f} GB/s, likwid "
              f"{statistics.median(b for _, b in pairs):.1f} GB/s, ratio {statistics.median(ratios):.3f} "
              f"({ratios[0]:.3f} to {ratios[-1]:.3f})")


if __name__ == "__main__":
    main()
