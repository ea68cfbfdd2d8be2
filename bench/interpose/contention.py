#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MPI's collectives under coset's layer beside MPI's own, while other processes want the same cores.

Reads build/openmpi and build/mpich, which `./dev bench --contention` builds first. One process per core; 0, 1 and 2
competitors on each core, which do nothing but run; Open MPI with mpi_yield_when_idle off and on, MPICH, which has no such
setting, as it comes. Both sides take turns in one process, in blocks of 40 ms. Every call is timed by itself; each figure is
that of the slower process. ✗: behind, as the median is below 0.95 times MPI's speed, or the 99th percentile is more
than 1.2 times MPI's. Exits with 0 also where cells are behind, as a machine that does something else spoils them.
"""
import argparse
import json
import os
import platform
import sys
import time

from table import command_of, rows_of, size_text

# Bound to cores, as programs are that are not alone; ranks that move to where nobody competes would measure the scheduler.
SETTINGS = {
    "openmpi": {yields: ["--bind-to", "core", "--mca", "mpi_yield_when_idle", value]
                for yields, value in (("off", "0"), ("on", "1"))},
    "mpich": {"–": ["-bind-to", "core"]},
}
SIDES = ("mpi", "layer")
FIGURES = ("median_us", "p99_us", "mean_us", "calls")
LEAST_SPEED, LONGEST_TAIL = 0.95, 1.2


def cell_of(mpi, yields, row):
    """A line of `contended` as it stands in the JSON."""
    cell = {"library": mpi, "yields": yields, "verb": row[0], "form": row[1], "bytes": int(row[2]), "competitors": int(row[3])}
    for side, own in zip(SIDES, (row[4:8], row[8:12])):
        cell[side] = {name: float(text) for name, text in zip(FIGURES, own)}
    def of_mpi_per_own(figure):
        theirs, ours = (max(cell[side][figure], 1e-3) for side in SIDES)  # a clock's step may be longer than a call
        return theirs / ours

    return cell | {
        "times_as_fast": round(of_mpi_per_own("median_us"), 2),
        "times_in_the_mean": round(of_mpi_per_own("mean_us"), 2),
        "tail": round(1 / of_mpi_per_own("p99_us"), 2),
    }


def is_behind(cell):
    return cell["times_as_fast"] < LEAST_SPEED, cell["tail"] > LONGEST_TAIL


def line_of(cell):
    slow, long = (" ✗" if bad else "" for bad in is_behind(cell))
    theirs, ours = (cell[side] for side in SIDES)
    return "| " + " | ".join([
        cell["library"], cell["yields"], str(cell["competitors"]), cell["verb"], cell["form"], size_text(cell["bytes"]),
        f"{theirs['median_us']:.2f}", f"{ours['median_us']:.2f}", f"{cell['times_as_fast']:.2f}×{slow}",
        f"{theirs['p99_us']:.2f}", f"{ours['p99_us']:.2f}", f"{cell['tail']:.2f}{long}",
        f"{cell['times_in_the_mean']:.2f}×"]) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", default="openmpi,mpich")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--verbs", default="", help="allreduce,…; without it ten")
    parser.add_argument("--sizes", default="", help="bytes; without it 8,65536")
    parser.add_argument("--forms", default="", help="blocking,nonblocking; without it both")
    parser.add_argument("--competitors", default="", help="on each core; without it 0,1,2")
    parser.add_argument("--yield", dest="yields", default="off,on", help="Open MPI's mpi_yield_when_idle: off,on")
    parser.add_argument("--rounds", type=int, default=0, help="without it 10, nine minutes in all")
    parser.add_argument("--quick", action="store_true", help="4 rounds, some four minutes")
    parser.add_argument("--json", help="a file for the figures")
    options = parser.parse_args()
    asked = {name: getattr(options, name) for name in ("verbs", "sizes", "forms", "competitors")}
    asked["rounds"] = options.rounds or (4 if options.quick else 0)
    print("| MPI | yields | competitors | verb | form | size | MPI's median, µs | coset's | times as fast "
          "| MPI's p99, µs | coset's | coset's as a multiple | means, times as fast |")
    print("|---" * 13 + "|", flush=True)
    cells = []
    begin = time.monotonic()
    shows_progress = sys.stderr.isatty() and not sys.stdout.isatty()
    for mpi in options.mpi.split(","):
        for yields, settings in SETTINGS[mpi].items():
            if mpi == "openmpi" and yields not in options.yields.split(","):
                continue
            command = command_of(mpi, settings, "contended", asked, options.processes)
            for row in rows_of(command, mpi):
                cells.append(cell_of(mpi, yields, row))
                print(line_of(cells[-1]), flush=True)
                if shows_progress:
                    print(f"\r{len(cells)} cells, {time.monotonic() - begin:.0f} s", end="", file=sys.stderr, flush=True)
    if shows_progress:
        print(file=sys.stderr)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"system": platform.release(), "processes": options.processes, "cells": cells}, file, indent=1)
    slow, long = (sum(is_behind(cell)[which] for cell in cells) for which in (0, 1))
    print(f"\n{len(cells)} cells in {time.monotonic() - begin:.0f} s: behind in the median in {slow}, in the 99th "
          f"percentile in {long}.")


if __name__ == "__main__":
    main()
