#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Short arrays beside what an expert writes by hand: how many times faster coset is than the best of the ways by hand of
`coset bench --against std`, of two ranks, cycles and calls alone, near and far.

    by_hand.py COSET [--rounds N] [--sizes 8,64,…] [--verbs …]

Prints a table in Markdown, a row for each verb and state of the cores: "cycle / call", and ✗ where the whole 95 % interval is below
0.95. Every verb is a process of its own.
"""
import argparse
import json
import os
import subprocess
import tempfile

VERBS = ["allreduce", "allreduce_view", "reduce_shared", "reduce", "reduce_scatter", "allgather", "broadcast", "gather", "scatter",
         "all_to_all", "scan", "barrier"]
TIMINGS = ["cycle", "call"]
BEHIND = 0.95
FEWEST_ROUNDS = 6


def benched(arguments, verb, timing):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "bench.json")
        subprocess.run([arguments.coset, "bench", verb, *arguments.sizes.split(","), "--timing", timing, "--against", "std",
                        "--ranks", "2", "--rounds", str(arguments.rounds), "--json", file],
                       check=True, stdout=subprocess.DEVNULL)
        with open(file, encoding="utf-8") as found:
            return json.load(found)


def best_rival(state):
    """How many times faster coset is than the rival that leaves it the least, with the 95 % interval."""
    ratios = [row["times_faster"] for row in state["rows"] if row["family"] not in ("coset", "reference") and "times_faster" in row]
    return min(ratios, key=lambda ratio: ratio["median"], default=None)


def cells_of(arguments, verb):
    """(state, size, timing) -> text"""
    cells = {}
    for timing in TIMINGS:
        for size in benched(arguments, verb, timing)["sizes"]:
            for state in size["states"]:
                ratio = best_rival(state)
                if ratio is None or state["rounds"] < FEWEST_ROUNDS:
                    continue
                cross = " ✗" if ratio["high"] < BEHIND else ""
                cells[state["state"], size["size"], timing] = f"{ratio['median']:.2f}{cross}"
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("coset")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--sizes", default="8,64,424,1K")
    parser.add_argument("--verbs", nargs="+", default=VERBS)
    arguments = parser.parse_args()
    columns = []
    for verb in arguments.verbs:
        cells = cells_of(arguments, verb)
        if not columns:
            columns = sorted({size for _, size, _ in cells})
            print("| verb | cores are | " + " | ".join(f"{size} B" for size in columns) + " |")
            print("|---|---|" + "---:|" * len(columns))
        for cores in sorted({state for state, _, _ in cells}, reverse=True):
            row = [" / ".join(cells.get((cores, size, timing), "–") for timing in TIMINGS) for size in columns]
            print(f"| {verb} | {cores} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
