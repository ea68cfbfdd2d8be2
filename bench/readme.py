#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the README's table shows, and prints that table in Markdown.

usage: readme.py FOLDER       as ./dev bench --readme starts it, which has built what is measured; FOLDER gets the JSON files

A ratio says how many times faster coset is: below 1 it is slower. A tie: the 95 % interval of the rounds' ratios does not tell.
"""
import json
import os
import pathlib
import subprocess
import sys

from figures import best_of, size_text

BUILD = pathlib.Path(__file__).parent.parent / "build"
COSET = [BUILD / "release/coset", "bench"]
# Open MPI's launcher refuses root and, with fewer cores than processes, all others.
LAUNCHED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
LOOPS = [BUILD / "release/bench/programs/programs_bench_O2", "--only", "histogram", "--threads", "2"]
UPDATES = [BUILD / "release/bench/reducer/reducer_bench", "--threads", "2", "--elements", "1024", "--sparse", str(64 << 20)]
# Whole loops, by the name of their cell, and what it is called.
SCATTERS = {"64Mi:0.0001": "64 Mi elements, 0.01 % touched, scattered", "64Mi:0.01": "64 Mi elements, 1 % touched, scattered",
            "16Mi:0.125": "16 Mi elements, 2 Mi updates"}
SCATTER = [BUILD / "release/bench/scatter/scatter_bench", "--threads", "2", "--rounds", "9",
           "--who", "coset,serial,omp,scan,partition,private", *(word for name in SCATTERS for word in ("--cell", name))]
PROCESSES = ["mpiexec.openmpi", "-n", "2", "--bind-to", "none", BUILD / "openmpi/coset", "bench", "--mpi"]
SIZES = (8, 64 << 10, 4 << 20)


def measured(folder, name, command, *options):
    path = pathlib.Path(folder) / f"{name}.json"
    words = [str(word) for word in (*command, *options, "--json", path)]
    print(" ".join(words), file=sys.stderr, flush=True)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **LAUNCHED})
    return json.loads(path.read_text(encoding="utf-8"))


def ratio(row, key="coset_faster"):
    """'1.42', '**0.06**' where coset is slower beyond doubt, '1.03 (tie)' where nobody can tell."""
    if row is None:
        return "–"
    figure = row[key]
    if figure["low"] <= 1 <= figure["high"]:
        return f"{figure['median']:.2f} (tie)"
    return f"{figure['median']:.2f}" if figure["low"] > 1 else f"**{figure['median']:.2f}**"


def best(rows, key="coset_faster"):
    return min(rows, key=lambda row: row[key]["median"], default=None)


def loops(folder):
    """Threads that add: OpenMP's clause, and private copies by hand."""
    for program in measured(folder, "histogram", LOOPS):
        rows = {row["who"]: row for row in program["rows"]}
        bins = int(program["program"].rsplit(" ", 1)[1])
        if bins in (1 << 10, 1 << 17):
            yield f"accumulate: histogram, {bins:,} bins", ratio(rows["clause"]), ratio(rows["by hand"])


def thin(folder):
    """Updates of few elements of a long array: OpenMP's clause, and the best of atomics and of owners who look at all updates."""
    for shape in measured(folder, "thin", UPDATES, "--rounds", "5"):
        if "1 %" in shape["shape"]:
            rows = {row["who"]: row for row in shape["states"][0]["rows"]}
            where = "contiguous" if "window" in shape["shape"] else "scattered"
            yield (f"accumulate: 64 Mi elements, 1 % touched, {where}", ratio(rows["omp parallel reduction"]),
                   ratio(best([rows["omp parallel atomic"], rows["omp parallel by owner"]])))


def scatters(folder):
    """Whole loops: the better of OpenMP's atomics and its clause, and the best of what is written by hand."""
    for cell, name in zip(measured(folder, "scatter", SCATTER), SCATTERS.values()):
        rows = [row for row in cell["rows"] if "coset_faster" in row and not row["who"].startswith("coset")]
        found = [best([row for row in rows if row["who"].startswith("omp") == usual]) for usual in (True, False)]
        yield (f"scatter_add: {name}", *map(ratio, found))


def rivals_of(size):
    state = max(size["states"], key=lambda state: state["rounds"])
    return [row for row in state["rows"] if "times_faster" in row and row["family"] not in ("reference", "floor", "coset")]


def verbs(folder, verb, words, sizes, command=COSET, standard=("omp",), of_processes=False):
    """One row for each size: cycle, then call alone."""
    both = [measured(folder, f"{verb}-{timing}{'-mpi' if of_processes else ''}", command, verb, *map(str, sizes), "--timing", timing)
            for timing in ("cycle", "call")]
    for cycle, call in zip(*(file["sizes"] for file in both)):
        cells = []
        for usual in (True, False):
            found = [best_of([row for row in rivals_of(size) if (row["family"] in standard) == usual
                              and (verb == "reduce_shared" or row["who"] != "omp shared")]) for size in (cycle, call)]
            cells.append(" / ".join(ratio(one and one[0], "times_faster") for one in found) if any(found) else "–")
        yield (f"{words}: {size_text(cycle['size'])}", *cells)


def main(folder):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    rows = [*loops(folder), *thin(folder), *scatters(folder), *verbs(folder, "allreduce", "allreduce between threads", SIZES),
            *verbs(folder, "reduce_shared", "reduce into one array shared by all threads", SIZES[1:]),
            *verbs(folder, "allreduce", "allreduce between processes", SIZES[:2], PROCESSES, ("mpi", "omp"), of_processes=True)]
    print("\n| case (2 threads, or 2 processes) | speedup over OpenMP (last two rows: MPI) | speedup over the best hand-written code |\n|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
