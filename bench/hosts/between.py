#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of allreduces between hosts that namespaces make of this machine, links limited by tc, beside Open MPI's.

usage: between.py [--hosts 2,4,8,9] [--rates 1gbit,10gbit] [--sizes 8,1K,…] [--rounds 7] [--threads 1] [--han]

Reads build/openmpi/coset, which `./dev bench --hosts` builds first. One process for each host, of so many threads. --han: Open
MPI's hierarchical collectives instead of those it chooses. As root, as tests/mpi/hosts is.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from figures import size_text  # noqa: E402

RIVALS = ("omp+master", "mpi flat")


def measured(hosts, rate, options):
    """The sizes of one run, or the launcher's words if there was none."""
    shape = "+".join(["1"] * hosts)
    han = ["--mpi-arg", "--mca", "--mpi-arg", "coll_han_priority", "--mpi-arg", "100"] if options.han else []
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        ran = subprocess.run(
            [ROOT / "tests/mpi/hosts", "openmpi", shape, "--rate", rate, *han, ROOT / "build/openmpi/coset", "bench", "allreduce",
             *options.sizes.split(","), "--mpi",
             "--threads", str(options.threads), "--rounds", str(options.rounds), "--json", file.name],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if ran.returncode != 0:
            sys.exit(ran.stderr)
        return json.load(open(file.name, encoding="utf-8"))["sizes"]


def against(row):
    found = row["times_faster"]
    return f"{found['median']:.2f}×" + (" ✗" if found["high"] < 1 / 1.03 else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", default="2,4,8,9")
    parser.add_argument("--rates", default="1gbit,10gbit")
    parser.add_argument("--sizes", default="8,1K,16K,64K,256K,1M,4M,16M")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--han", action="store_true")
    options = parser.parse_args()
    print("| hosts | link | size | µs | than a master's MPI_Allreduce | than MPI_Allreduce |")
    print("|---|---|---|---|---|---|")
    for hosts in options.hosts.split(","):
        for rate in options.rates.split(","):
            for size in measured(int(hosts), rate, options):
                rows = {row["who"]: row for row in size["states"][0]["rows"]}
                cells = [against(rows[who]) if who in rows else "–" for who in RIVALS]
                print(f"| {hosts} | {rate} | {size_text(size['size'])} | {rows['coset']['median_ns'] / 1e3:.1f} | "
                      f"{cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    main()
