#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/reducer.md, "Over processes": main loops of MPI and threads, by one call and as experts write them.

usage: table.py [--mpi openmpi] [--shapes 2x1,1x2,2x2,4x1] [--hosts 1+1,2+2] [--rates 1gbit,10gbit] [--programs histogram]
                [--rounds 11] [--json FILE] [-- OPTION of coset_hybrid_loops …]

Reads build/MPI/bench/mpi/coset_hybrid_loops, which `ninja -C build/MPI coset_hybrid_loops` builds. A shape is processes x
threads on this machine; --hosts are hosts that namespaces make of it (as root), one thread for each of their processes, with
links of these rates: "wire" is what the bytes that an allreduce has to send take on such a link, as a multiple of coset's
time. A ratio is a way's time as a multiple of coset's one call, in brackets where the 95 % interval does not tell.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
COLUMNS = {
    "in place": "coset in place",
    "reducer, then MPI": "coset reducer + MPI",
    "coset allreduce": "coset allreduce",
    "reduce_shared": "coset reduce_shared",
    "clause, MPI": "omp clause + MPI",
    "fold, MPI": "fold + MPI",
    "fold, MPI by each thread": "fold + MPI per thread",
    "leaders": "leaders by MPI",
    "window": "shared window by hand",
}
# Of Ethernet's frames, what is left for TCP's bytes.
PAYLOAD = 1448 / 1538


def played(options, launcher, threads, processes):
    """The cells of one run."""
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "COSET_TUNING": "off", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if threads * processes > len(os.sched_getaffinity(0)):
        environment["OMP_WAIT_POLICY"] = "passive"
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        ran = subprocess.run([*launcher, ROOT / f"build/{options.mpi}/bench/mpi/coset_hybrid_loops", "--rounds", str(options.rounds),
                              "--shortest", "--program", options.programs, "--json", file.name, *options.more],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment, check=False)
        if ran.returncode != 0:
            sys.exit(ran.stderr)
        return json.load(open(file.name, encoding="utf-8"))


def on_this_machine(options, shape):
    processes, threads = map(int, shape.split("x"))
    launcher = [f"mpiexec.{options.mpi}", "-n", str(processes)]
    if options.mpi == "openmpi":
        launcher += ["--oversubscribe", "--bind-to", "none"]
    return played(options, launcher, threads, processes)


def between_hosts(options, hosts, rate):
    processes = sum(map(int, hosts.split("+")))
    return played(options, [ROOT / "tests/mpi/hosts", options.mpi, hosts, "--rate", rate], 1, processes)


def wire_ns(cell, rate):
    """Each host's link carries (h - 1) / h of the array to and from it twice."""
    hosts, bits = cell["hosts"], float(rate.removesuffix("gbit"))
    return 2 * (hosts - 1) / hosts * cell["bytes"] * 8 / (bits * PAYLOAD)


def ratio(row):
    if row is None or "median_ns" not in row:
        return "–"
    found = row["coset_faster"]
    text = f"{found['median']:.2f}"
    return text if found["low"] > 1 or found["high"] < 1 else f"({text})"


def line(where, cell, rate):
    rows = {row["who"]: row for row in cell["rows"]}
    coset = rows["coset"]["median_ns"]
    wire = [f"{wire_ns(cell, rate) / coset:.2f}"] if rate else []
    words = [where, cell["program"], f"{cell['bytes'] // 8:,}", f"{coset / 1e3:.1f}",
             *(ratio(rows.get(who)) for who in COLUMNS.values())]
    return "| " + " | ".join(words + wire) + " |"


def head(first, rate):
    names = [first, "program", "doubles", "coset, µs", *COLUMNS, *(["wire"] if rate else [])]
    return "| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|"


def main():
    words = sys.argv[1:]
    more = words[words.index("--") + 1:] if "--" in words else []
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="openmpi")
    parser.add_argument("--shapes", default="2x1,1x2,2x2,4x1")
    parser.add_argument("--hosts", default="")
    parser.add_argument("--rates", default="1gbit,10gbit")
    parser.add_argument("--programs", default="histogram")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json")
    options = parser.parse_args(words[:words.index("--")] if more else words)
    options.more = more
    kept = []

    def show(where, cells, rate=None):
        for cell in cells:
            kept.append(cell | {"where": where} | ({"rate": rate} if rate else {}))
            print(line(where, cell, rate), flush=True)
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")

    if options.shapes:
        print(head("processes × threads", None))
        for shape in options.shapes.split(","):
            show(shape.replace("x", " × "), on_this_machine(options, shape))
    if options.hosts:
        print("\n" + head("hosts", True))
        for hosts in options.hosts.split(","):
            for rate in options.rates.split(","):
                show(f"{hosts}, {rate}", between_hosts(options, hosts, rate), rate)


if __name__ == "__main__":
    main()
