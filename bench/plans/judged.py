#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well coset judges on this machine: what its default takes beside the best plan that can be named, and what its model says
beside what plans add to a cycle.

    judged.py COSET [--ranks P] [--rounds N] [--verbs …] [--sizes …] [--timing cycle|call …] [--json FILE]

Regret: the default's time as a multiple of the least of all plans' and of the ways by hand of `coset bench --against std`, the median
of ratios in one round each. Every verb is a process of its own, so it begins as fresh as a user's does. Near and apart are the
states of the cores that the benchmark tells from each other. Model: by `coset why --measure`, the chosen plan and the runner-up.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

VERBS = ["allreduce", "reduce", "reduce_scatter", "allgather", "broadcast", "scan", "gather", "scatter", "all_to_all",
         "reduce_shared"]
SIZES = ["4K", "8K", "64K", "256K", "1M", "4M"]
STORAGES = ["staged", "staged_pull", "staged_in", "output", "zero_copy", "zero_copy_pull", "zero_copy_push", "zero_copy_store",
            "zero_copy+stream"]
# Those of which two ranks have two schedules: all ranks fold all, or a part each.
FOLDED_ALONE = {"allreduce", "reduce", "broadcast", "scan"}
FAR_OFF = 1.5   # a price that is further from the measured time than that
BEHIND = 1.15   # a default that is slower than that


def plans_that_serve(coset, verb, ranks):
    """A plan that would lose a value of this verb ends the benchmark, so each is tried alone."""
    command = [coset, "bench", verb, "4K", "--against", "std", "--ranks", str(ranks), "--rounds", "1", "-n", "1",
               "--plan"]
    algorithms = ["direct", "direct(saved_steps=1)"] if verb in FOLDED_ALONE else ["direct"]
    plans = [f"{algorithm}/{storage}" for storage in STORAGES for algorithm in algorithms]
    return [plan for plan in plans if subprocess.run([*command, plan], capture_output=True, check=False).returncode == 0]


def benched(coset, verb, timing, plans, arguments):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "bench.json")
        command = [coset, "bench", verb, *arguments.sizes, "--timing", timing, "--against", "std",
                   "--ranks", str(arguments.ranks), "--rounds", str(arguments.rounds), "--json", file]
        for plan in plans:
            command += ["--plan", plan]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(file, encoding="utf-8") as found:
            return json.load(found)


def ratios_of(state):
    """(median ratio of the default to each other contestant that sums right, its name), the greatest first."""
    rows = {row["who"]: row for row in state["rows"] if row["family"] != "reference"}
    own = rows.pop("coset")["rounds_ns"]
    found = [(statistics.median(a / b for a, b in zip(own, row["rounds_ns"])), who)
             for who, row in rows.items() if not row["wrong"] and len(row["rounds_ns"]) == len(own)]
    return sorted(found, reverse=True)


def regrets(coset, arguments):
    """Rows of (verb, size, timing, state, rounds, regret, who is best)."""
    for verb in arguments.verbs:
        plans = plans_that_serve(coset, verb, arguments.ranks)
        for timing in arguments.timing:
            print(f"regret of {verb}, {timing}, {len(plans)} plans", file=sys.stderr)
            for cell in benched(coset, verb, timing, plans, arguments)["sizes"]:
                for state in cell["states"]:
                    if state["rounds"] < 5:
                        continue
                    ratio, who = ratios_of(state)[0]
                    yield verb, cell["size"], timing, state["state"], state["rounds"], max(ratio, 1.0), who


def model(coset, arguments):
    """Rows of (verb, size, plan, model over what it adds to a cycle, latency between the cores), for plans that could be measured."""
    for verb in arguments.verbs:
        print(f"model of {verb}", file=sys.stderr)
        for size in arguments.sizes:
            command = [coset, "why", verb, size, "--ranks", str(arguments.ranks), "--measure", "--json"]
            answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for one in answer["measured"]:
                if not one["added"]:
                    print(f"left out: {verb} of {size} by {one['plan']}, {one['declined'] or 'lost in own work'}", file=sys.stderr)
                else:
                    yield verb, size, one["plan"], one["model"] / one["added"], one["one_way"] or 0


def text_of(size):
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB" if size >= 1024 else f"{size} B"


def print_regrets(rows, timings):
    for state in sorted({row[3] for row in rows}):
        for timing in timings:
            cells = {(verb, size): (regret, who) for verb, size, t, s, _, regret, who in rows if (t, s) == (timing, state)}
            sizes = sorted({size for _, size in cells})
            if not cells:
                continue
            within = sum(round(regret, 2) <= BEHIND for regret, _ in cells.values())
            print(f"\n{state}, {timing}: {within} of {len(cells)} cells within {BEHIND}\n")
            print("| |", " | ".join(map(text_of, sizes)), "|\n|---|" + "---:|" * len(sizes))
            for verb in dict.fromkeys(verb for verb, _ in cells):
                texts = []
                for size in sizes:
                    regret, who = cells.get((verb, size), (0, ""))
                    texts.append("" if not regret else f"{regret:.2f}" if round(regret, 2) <= BEHIND else f"**{regret:.2f}** {who}")
                print(f"| {verb} |", " | ".join(texts), "|")


def print_model(rows):
    """Cores that a machine moved apart take several times as long for the same plan: their cells are a table of their own."""
    if not rows:
        return
    least = min((row[4] for row in rows if row[4] > 0), default=0)
    for state, cells in [("near", [row for row in rows if row[4] <= 2 * least]), ("apart", [row for row in rows if row[4] > 2 * least])]:
        if cells:
            print_model_of(state, cells)


def print_model_of(state, rows):
    close = [row for row in rows if 1 / FAR_OFF <= row[3] <= FAR_OFF]
    print(f"\n{state}, model over what is added to a cycle: {len(close)} of {len(rows)} within {FAR_OFF}\n")
    sizes = list(dict.fromkeys(row[1] for row in rows))
    print("| |", " | ".join(sizes), "|\n|---|" + "---:|" * len(sizes))
    for verb in dict.fromkeys(row[0] for row in rows):
        cells = [", ".join(f"{ratio:.2f}" for v, s, _, ratio, _ in rows if (v, s) == (verb, size)) for size in sizes]
        print(f"| {verb} |", " | ".join(cells), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("coset", type=os.path.abspath, help="the command, build/release/coset")
    parser.add_argument("--ranks", type=int, default=2, help="default: 2")
    parser.add_argument("--rounds", type=int, default=9, help="of each cell, of which five have to be in one state; default: 9")
    parser.add_argument("--verbs", nargs="+", default=VERBS, choices=VERBS, metavar="VERB", help="default: " + " ".join(VERBS))
    parser.add_argument("--sizes", nargs="+", default=SIZES, metavar="SIZE", help="default: " + " ".join(SIZES))
    parser.add_argument("--timing", nargs="+", default=["cycle", "call"], choices=["cycle", "call"], help="default: both")
    parser.add_argument("--json", metavar="FILE", help="all ratios")
    arguments = parser.parse_args()
    arguments.sizes = [size for word in arguments.sizes for size in word.split(",")]
    found = {"regret": list(regrets(arguments.coset, arguments))}
    print_regrets(found["regret"], arguments.timing)
    found["model"] = list(model(arguments.coset, arguments))
    print_model(found["model"])
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as out:
            json.dump(found, out, indent=1)


if __name__ == "__main__":
    main()
