#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far the outside client and `coset bench` agree: both in turns, the ratio of their medians at each size.

usage: agree.py COSET OUTSIDE [BYTES...] [--times N]

COSET is the command, OUTSIDE the client built from this folder. The interval is that of 95 % of 2,000 resamples of the runs.
Each run makes teams anew, whose lines lie elsewhere.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile


def bench(command, sizes):
    """[size]: coset's median of one run, in microseconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "figures.json")
        subprocess.run([command, "bench", "allreduce", *map(str, sizes), "--rounds", "5",
                        "--against", "std", "--json", path], check=True, stdout=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as file:
            figures = json.load(file)
    usual = {size["size"]: max(size["states"], key=lambda state: state["rounds"])
             for size in figures["sizes"] if size["states"]}
    return {size: next(row["median_ns"] for row in state["rows"] if row["who"] == "coset") / 1000
            for size, state in usual.items()}


def outside(command, sizes):
    lines = subprocess.run([command, *map(str, sizes)], check=True, capture_output=True, text=True).stdout.splitlines()
    return {int(line.split()[0]): float(line.split()[2]) for line in lines}


def ratio(ours, theirs):
    """(of the medians, 2.5 % and 97.5 % of it)."""
    choices = random.Random(1)
    again = sorted(statistics.median(choices.choices(ours, k=len(ours))) /
                   statistics.median(choices.choices(theirs, k=len(theirs))) for _ in range(2000))
    return statistics.median(ours) / statistics.median(theirs), again[50], again[1949]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("coset")
    parser.add_argument("outside")
    parser.add_argument("bytes", nargs="*", type=int, default=[8, 64, 1024, 8192, 65536, 1 << 20, 4 << 20])
    parser.add_argument("--times", type=int, default=11)
    wanted = parser.parse_args()
    runs = []
    for _ in range(wanted.times):
        runs.append((bench(wanted.coset, wanted.bytes), outside(wanted.outside, wanted.bytes)))
    print("| size | bench, µs | outside, µs | bench ÷ outside |\n|---|---|---|---|")
    for size in wanted.bytes:
        ours = [run[0][size] for run in runs if size in run[0]]
        theirs = [run[1][size] for run in runs]
        middle, low, high = ratio(ours, theirs)
        print(f"| {size} | {statistics.median(ours):.3f} | {statistics.median(theirs):.3f} | "
              f"{middle:.3f} [{low:.3f}, {high:.3f}] |")


if __name__ == "__main__":
    sys.exit(main())
