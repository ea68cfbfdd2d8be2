#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of MPI's collectives under libcoset_preload.so beside MPI's own, one process per core.

usage: table.py [--mpi openmpi,mpich] [--processes N] [--verbs allreduce,…] [--sizes 8,64,…] [--rounds N] [--components]

Reads build/openmpi and build/mpich, which `./dev bench --interpose` builds first. Both sides take turns in one process.
--components: beside each MPI's other components for shared memory, too: Open MPI's sm and han, MPICH's release_gather.
"""
import argparse
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from figures import size_text  # noqa: E402

COMPONENTS = {
    "openmpi": {
        "as it comes": [],
        "sm": ["--mca", "coll_sm_priority", "100"],
        "han": ["--mca", "coll_han_priority", "100"],
    },
    "mpich": {
        "as it comes": [],
        "release_gather": ["-genv", "MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM", "release_gather",
                           "-genv", "MPIR_CVAR_BCAST_POSIX_INTRA_ALGORITHM", "release_gather",
                           "-genv", "MPIR_CVAR_REDUCE_POSIX_INTRA_ALGORITHM", "release_gather"],
    },
}


def rows_of(mpi, settings, options):
    """The lines of one run, split."""
    folder = ROOT / "build" / mpi
    library = folder / "src/mpi/preload/libcoset_preload.so"
    preload = ["-x", f"LD_PRELOAD={library}"] if mpi == "openmpi" else ["-genv", "LD_PRELOAD", str(library)]
    arguments = [f"--{name}={getattr(options, name)}".split("=", 1) for name in ("verbs", "sizes", "rounds")
                 if getattr(options, name)]
    command = [f"mpiexec.{mpi}", "-n", str(options.processes), *settings, *preload, folder / "bench/interpose/calls",
               *(word for pair in arguments for word in pair)]
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    ran = subprocess.run(command, env=os.environ | as_root, stdout=subprocess.PIPE, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"{mpi}: the run failed")
    return [line.split("\t") for line in ran.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", default="openmpi,mpich")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--verbs", default="")
    parser.add_argument("--sizes", default="")
    parser.add_argument("--rounds", default="")
    parser.add_argument("--components", action="store_true")
    options = parser.parse_args()
    print("| MPI | verb | size | MPI's call, µs | coset's | times as fast | MPI's cycle, µs | coset's | times as fast |")
    print("|---|---|---|---|---|---|---|---|---|")
    for mpi in options.mpi.split(","):
        for name, settings in COMPONENTS[mpi].items():
            if settings and not options.components:
                continue
            rows = rows_of(mpi, settings, options)
            for call, cycle in zip(rows[::2], rows[1::2]):
                cells = [cell for row in (call, cycle)
                         for cell in (row[3], row[4], f"{row[5]}×" + (" ✗" if float(row[7]) < 0.97 else ""))]
                who = mpi if not settings else f"{mpi} {name}"
                print("|", " | ".join([who, call[0], size_text(int(call[1])), *cells]), "|", flush=True)


if __name__ == "__main__":
    main()
