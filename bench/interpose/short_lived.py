#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Communicators that live for a few collectives, with and without libcoset_preload.so: the table of docs/figures.md.

usage: short_lived.py [--mpi openmpi,mpich] [--processes N] [--calls 0,1,…] [--microseconds N] [--rounds N] [--library FILE]

Reads build/openmpi and build/mpich, whose coset_interpose_short_lived has to be built. A cell has the microseconds that making,
using and freeing one communicator takes with MPI alone, with the library, and their ratio: of the medians of as many rounds, by
turns. --library: another one than that of the build, for a comparison.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = "src/mpi/preload/libcoset_preload.so"


def run(mpi, library, options):
    """The microseconds of each cell of one run."""
    folder = ROOT / "build" / mpi
    preload = []
    if library:
        preload = ["-x", f"LD_PRELOAD={library}"] if mpi == "openmpi" else ["-genv", "LD_PRELOAD", str(library)]
    command = [f"mpiexec.{mpi}", "-n", str(options.processes), *preload, folder / "bench/interpose/short_lived",
               "--calls", options.calls, "--microseconds", str(options.microseconds)]
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}
    ran = subprocess.run(command, env=os.environ | as_root, stdout=subprocess.PIPE, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"{mpi}: the run failed")
    rows = [line.split("\t") for line in ran.stdout.splitlines()]
    return {tuple(row[:3]): float(row[3]) for row in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", default="openmpi,mpich")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--calls", default="0,1,2,5,9,10,20,50,200")
    parser.add_argument("--microseconds", type=int, default=50000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--library", default="")
    options = parser.parse_args()
    numbers = options.calls.split(",")
    print("| MPI | made by | collective |", " | ".join(f"{number} calls" for number in numbers), "|")
    print("|---" * (3 + len(numbers)) + "|")
    for mpi in options.mpi.split(","):
        library = options.library or ROOT / "build" / mpi / LIBRARY
        rounds = [(run(mpi, None, options), run(mpi, library, options)) for _ in range(options.rounds)]
        alone, under = ({key: statistics.median(each[side][key] for each in rounds) for key in rounds[0][0]}
                        for side in (0, 1))
        for way, collective in dict.fromkeys(key[:2] for key in alone):
            cells = []
            for number in numbers:
                one, other = (side[(way, collective, number)] for side in (alone, under))
                cells.append(f"{one:.1f} → {other:.1f}: {other / one:.2f}×")
            print("|", " | ".join([mpi, way, collective, *cells]), "|", flush=True)


if __name__ == "__main__":
    main()
