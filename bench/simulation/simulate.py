#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Allreduces of up to thousands of ranks in simulated time: coset's schedules beside SimGrid's algorithms, on the same machines.

usage: simulate.py [--program FILE] [--quick|--long] [--experiment NAME]... [--results FOLDER] [--plots FOLDER] [--jobs N]
                   [--check] [--list]

Prints a table for each machine and number of ranks, and whether the sources' claims hold. The model chooses among all
candidates; those that it chooses, or nearly, are simulated. FOLDER gets simulated.csv and model.csv: seconds by SimGrid and by
the model. Two runs give the same figures.
"""
import argparse
import concurrent.futures
import csv
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile

import claims
import tables
from experiments import EXPERIMENTS

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass
class Price:
    """What the model says; volume is what the busiest link carries, in vectors, messages the most that meet on one."""
    seconds: float
    steps: int
    volume: float
    messages: int


@dataclasses.dataclass
class Outcome:
    """[bytes][algorithm]; estimated: the saved_steps that [KZ] (37) tells, by bytes. SimGrid's algorithms are `simgrid:NAME`."""
    setting: object
    prices: dict
    estimated: dict
    seconds: dict
    failed: list

    def chosen(self, size):
        return min(self.prices[size], key=lambda name: self.prices[size][name].seconds)


class Simulator:
    """Asks the program, which simulates on one processor, several at a time."""

    def __init__(self, program, jobs):
        self.program = str(program)
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)

    def ask(self, options, lines):
        asked = subprocess.run([self.program, *map(str, options)], input="".join(line + "\n" for line in lines), text=True,
                               capture_output=True, check=False)
        return asked.stdout.splitlines() if asked.returncode == 0 else None, asked.stderr.strip()

    def costs(self, setting):
        return ["--overhead", setting.costs.overhead, "--combine", setting.costs.combine]

    def prices(self, setting, folder):
        lines, why = self.ask([*self.costs(setting), "--model", folder / "network.json", "--estimate", *setting.flat],
                              [f"{size} {name}" for name in dict.fromkeys(setting.candidates) for size in setting.sizes])
        if lines is None:
            raise SystemExit(f"simulate.py: {setting.name}: {why}")
        prices, estimated = {size: {} for size in setting.sizes}, {}
        for line in lines:
            if line.startswith("-"):
                continue  # not defined for so many ranks
            if line.startswith("estimated"):
                _, size, steps = line.split()
                estimated[int(size)] = int(steps)
                continue
            size, seconds, steps, volume, messages, name = line.split()
            prices[int(size)][name] = Price(float(seconds), int(steps), float(volume), int(messages))
        return prices, estimated

    def simulated(self, setting, folder, lines, comparator=None):
        options = [*self.costs(setting), "--platform", folder / "platform.xml", "--placement", folder / "placement"]
        for each in setting.settings:
            options += ["--set", each]
        if comparator:
            options += ["--comparator", comparator]
        answers, why = self.ask(options, lines)
        found = []
        for line in answers or []:
            size, seconds, *name = line.split()
            found.append((int(size), name[0] if name else f"simgrid:{comparator}", float(seconds)))
        return found, None if answers is not None else f"{comparator or 'coset'}: {why[:200]}"

    def start(self, setting, folder):
        """The tasks of a setting, without waiting for them."""
        folder.mkdir()
        placement = setting.placement()
        (folder / "platform.xml").write_text(setting.machine.xml())
        (folder / "placement").write_text("".join(host + "\n" for host in placement))
        (folder / "network.json").write_text(setting.machine.network(placement))

        def ours():
            prices, estimated = self.prices(setting, folder)
            pairs = []
            for size, priced in prices.items():
                ranked = sorted(priced, key=lambda name: priced[name].seconds)
                wanted = dict.fromkeys(ranked[:setting.kept] + [name for name in setting.always if name in priced])
                pairs += [f"{size} {name}" for name in wanted]
            return prices, estimated, self.simulated(setting, folder, pairs)

        sizes = [str(size) for size in setting.sizes]
        return (self.pool.submit(ours), [self.pool.submit(self.simulated, setting, folder, sizes, comparator)
                                         for comparator in setting.comparators])


def outcome_of(setting, tasks):
    ours, others = tasks
    prices, estimated, mine = ours.result()
    if mine[1]:
        raise SystemExit(f"simulate.py: {setting.name}: {mine[1]}")
    seconds, failed = {size: {} for size in setting.sizes}, []
    for found, why in [mine] + [each.result() for each in others]:
        for size, name, value in found:
            seconds[size][name] = value
        if why:
            failed.append(why)
    return Outcome(setting, prices, estimated, seconds, failed)


def write_results(folder, outcomes):
    folder.mkdir(parents=True, exist_ok=True)
    key = ["experiment", "ranks", "mapping", "algorithm", "bytes", "seconds"]
    with open(folder / "simulated.csv", "w", newline="") as simulated, open(folder / "model.csv", "w", newline="") as model:
        simulated, model = csv.writer(simulated, lineterminator="\n"), csv.writer(model, lineterminator="\n")
        simulated.writerow(key)
        model.writerow(key + ["steps", "busiest_link_vectors", "most_messages_on_a_link"])
        for each in outcomes:
            here = [each.setting.experiment, each.setting.ranks, each.setting.mapping]
            for size, seconds in each.seconds.items():
                for name, value in seconds.items():
                    simulated.writerow([*here, name, size, f"{value:.6e}"])
                    if name in each.prices[size]:
                        price = each.prices[size][name]
                        model.writerow([*here, name, size, f"{price.seconds:.6e}", price.steps, f"{price.volume:.4f}", price.messages])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build/release/bench/simulation/simulation_bench")
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_const", dest="effort", const=0, default=1, help="a few of each, a quarter of a minute")
    effort.add_argument("--long", action="store_const", dest="effort", const=2, help="more ranks and sizes, hours")
    parser.add_argument("--experiment", action="append", choices=sorted(EXPERIMENTS), help="this one alone; may be repeated")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "build/simulation")
    parser.add_argument("--plots", type=pathlib.Path, help="draw them here, by gnuplot")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--check", action="store_true", help="exit with 1 if a claim does not hold, or an algorithm stopped")
    parser.add_argument("--list", action="store_true", help="the experiments, without running them")
    given = parser.parse_args()
    if given.list:
        print("\n".join(EXPERIMENTS))
        return 0
    simulator = Simulator(given.program, given.jobs)
    with tempfile.TemporaryDirectory() as folder:
        settings = [setting for name in EXPERIMENTS if name in (given.experiment or EXPERIMENTS)
                    for setting in EXPERIMENTS[name][given.effort]()]
        tasks = [simulator.start(setting, pathlib.Path(folder) / str(i)) for i, setting in enumerate(settings)]
        outcomes = []
        for setting, task in zip(settings, tasks):
            outcomes.append(outcome_of(setting, task))
    write_results(given.results, outcomes)
    for each in outcomes:
        print(tables.table_of(each, outcomes))
    checked = claims.check(outcomes)
    print(tables.claims_table(checked))
    if given.plots:
        tables.draw(outcomes, given.plots)
    return int(given.check and (any(each.failed for each in outcomes) or not all(claim.holds for claim in checked)))


if __name__ == "__main__":
    sys.exit(main())
