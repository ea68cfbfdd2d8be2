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


def command_of(mpi, settings, program, options, processes):
    """What starts a program of this folder with the layer before MPI. Options without a value are left out."""
    folder = ROOT / "build" / mpi
    library = folder / "src/mpi/preload/libcoset_preload.so"
    preload = ["-x", f"LD_PRELOAD={library}"] if mpi == "openmpi" else ["-genv", "LD_PRELOAD", str(library)]
    return [f"mpiexec.{mpi}", "-n", str(processes), *settings, *preload, str(folder / "bench/interpose" / program),
            *(word for name, value in options.items() if value for word in (f"--{name}", str(value)))]


def rows_of(command, failed):
    """The lines that it writes, split, each as soon as it is there."""
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    with subprocess.Popen(command, env=os.environ | as_root, stdout=subprocess.PIPE, text=True) as ran:
        for line in ran.stdout:
            yield line.rstrip("\n").split("\t")
    if ran.returncode != 0:
        sys.exit(f"{failed}: the run failed")


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
    cells_in_all = behind = 0
    for mpi in options.mpi.split(","):
        for name, settings in COMPONENTS[mpi].items():
            if settings and not options.components:
                continue
            asked = {"verbs": options.verbs, "sizes": options.sizes, "rounds": options.rounds}
            rows = list(rows_of(command_of(mpi, settings, "calls", asked, options.processes), mpi))
            for call, cycle in zip(rows[::2], rows[1::2]):
                cells = [cell for row in (call, cycle)
                         for cell in (row[3], row[4], f"{row[5]}×" + (" ✗" if float(row[7]) < 0.97 else ""))]
                cells_in_all += 2
                behind += sum(float(row[5]) < 0.95 for row in (call, cycle))
                who = mpi if not settings else f"{mpi} {name}"
                print("|", " | ".join([who, call[0], size_text(int(call[1])), *cells]), "|", flush=True)
    print(f"\n{cells_in_all} cells: {cells_in_all - behind} at 0.95 times MPI's speed or better.")


if __name__ == "__main__":
    main()
