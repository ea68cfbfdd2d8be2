#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulated caches beside measured times, on this machine's cores.

    compare.py COSET [--measured FILE.json] [--timing cycle|call] [--ranks P] [--rounds N]

Measures by `coset bench allreduce` unless a file of its --json is given. Of what it measures only two things go into the
simulation: the one-way latency of a line, half of which is taken for owning and half for reading it, and the times of two
plans at one size, CALIBRATED, by which it is found how many lines a core reads and takes at once. All else is predicted.
"""
import argparse
import json
import os
import subprocess
import tempfile

SIZES = [8, 1024, 65536, 1 << 20]
PLANS = ["direct(saved_steps=1)/staged_pull", "direct/staged", "direct/output", "direct/zero_copy"]
WITHIN_L3 = 80e-9  # seconds one way
# What bench calls those of the rivals that are simulated, too.
RIVALS = {"std::barrier": "barriers"}
# One reads lines that others have written, the other also stores into lines that others have read.
CALIBRATED = {"streams": ("direct/staged", 65536), "stores": ("direct/zero_copy", 65536)}


def measured(coset, timing, ranks, rounds):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "bench.json")
        command = [coset, "bench", "allreduce", *map(str, SIZES), "--timing", timing,
                   "--ranks", str(ranks), "--rounds", str(rounds), "--against", "std", "--json", file]
        for plan in PLANS:
            command += ["--plan", plan]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "COSET_ADAPT": "off"})
        with open(file) as found:
            return json.load(found)


def times_of(found):
    """{(who, bytes): seconds} and {bytes: one-way latency}, of the state with most rounds. The fastest round counts, as noise
    only adds."""
    times, latencies = {}, {}
    for size in found["sizes"]:
        state = max(size["states"], key=lambda s: s["rounds"])
        latencies[size["size"]] = state["one_way_ns"] * 1e-9
        for row in state["rows"]:
            times[row["who"], size["size"]] = min(row["rounds_ns"]) * 1e-9
    return times, latencies


def simulated(coset, ranks, timing, size, latency, at_once):
    """{plan: seconds}"""
    command = [coset, "simulate", "allreduce", str(size), "--ranks", str(ranks), "--timing", timing, "--json",
               "--considered", "0", "--topology", topology(ranks, latency)]
    for plan in PLANS:
        command += ["--plan", plan]
    for name, value in (lines_cost(latency) | at_once).items():
        command += ["--set", f"{name}={value:.6g}"]
    made = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["machines"][0]
    return {row["plan"]: row["mean_seconds"] for row in made["sizes"][0]["plans"]}


def lines_cost(latency):
    """The machine may hide which level joins its cores: an L3 of their own if lines take longer than within one."""
    level = "l3" if latency < WITHIN_L3 else "node"
    return {f"{level}.read": latency / 2, f"{level}.own": latency / 2, f"{level}.serve": latency / 4}


def topology(ranks, latency):
    return f"numa:1 l3:1 core:{ranks} pu:1" if latency < WITHIN_L3 else f"numa:1 l3:{ranks} core:1 pu:1"


def calibrated(coset, ranks, timing, times, latencies):
    found = {}
    for name, (plan, size) in CALIBRATED.items():
        few, many = 1.0, 200.0  # more lines at once take less time
        for _ in range(12):
            found[name] = (few * many) ** 0.5
            slower = simulated(coset, ranks, timing, size, latencies[size], found)[plan] > times[plan, size]
            few, many = (found[name], many) if slower else (few, found[name])
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("coset")
    options.add_argument("--measured")
    options.add_argument("--timing", default="cycle", choices=["cycle", "call"])
    options.add_argument("--ranks", type=int, default=2)
    options.add_argument("--rounds", type=int, default=11)
    asked = options.parse_args()
    if asked.measured:
        with open(asked.measured) as file:
            found = json.load(file)
        asked.ranks, asked.timing = found["ranks"], found["timing"]
    else:
        found = measured(asked.coset, asked.timing, asked.ranks, asked.rounds)
    times, latencies = times_of(found)
    at_once = calibrated(asked.coset, asked.ranks, asked.timing, times, latencies)
    predicted = {size: simulated(asked.coset, asked.ranks, asked.timing, size, latencies[size], at_once)
                 for size in SIZES}
    print(f"{asked.ranks} ranks of {found['processor']}, {asked.timing}; a core reads {at_once['streams']:.1f} lines at once "
          f"and takes {at_once['stores']:.1f}")
    print(f"{'plan':<34}  {'bytes':>8}  {'one way':>7}  {'measured':>9}  {'simulated':>9}  ratio")
    for who in [*PLANS, *RIVALS]:
        for size in SIZES:
            plan = RIVALS.get(who, who)
            if (who, size) not in times or plan not in predicted[size]:
                continue
            here, there = times[who, size], predicted[size][plan]
            mark = "  calibrated" if (plan, size) in CALIBRATED.values() else ""
            print(f"{who:<34}  {size:>8}  {latencies[size] * 1e9:>5.0f}ns  {here * 1e6:>9.3f}  {there * 1e6:>9.3f}  {there / here:>5.2f}{mark}")


if __name__ == "__main__":
    main()
