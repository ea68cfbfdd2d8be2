#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which algorithms some default takes: `coset why` asked for each verb and size on described machines and between hosts.

    taken.py COSET [--machines FOLDER] [--json FILE]

FOLDER has machines as hwloc's XML, beside those that are described here. An algorithm counts where a default takes it by its own
name or as the part of another between hosts or of their nodes. Needs no quiet machine: nothing is measured.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys

VERBS = ["allreduce", "reduce", "reduce_scatter", "allgather", "broadcast", "scan", "gather", "scatter", "all_to_all", "barrier"]
SIZES = ["8", "1K", "16K", "256K", "4M"]
RANKS = [2, 3, 4, 8, 16, 24, 64, 128]
MACHINES = {"one L3": "l3:1 core:16 pu:1", "two L3": "l3:2 core:4 pu:1", "two nodes": "node:2 l3:1 core:16 pu:1",
            "eight L3 of two nodes": "node:2 l3:4 core:8 pu:1", "four nodes": "node:4 l3:1 core:16 pu:1", "pairs": "node:1 core:4 pu:2"}
HOSTS = ["1,1", "1,1,1", ",".join("1" * 4), ",".join("1" * 7), ",".join("1" * 16), ",".join("1" * 64), "2,2", "4,4,4,4", "8,8,8,8",
         ",".join(["8"] * 16), ",".join(["16"] * 32), "5,3", "8,4,2,1", "1,7"]
NETWORKS = ["20,3,1", "1.5,0.3,0.1", "50,10,8"]


def cells(folder):
    """(where, options, PUs) of each machine, and of hosts over a network."""
    for name, text in MACHINES.items():
        yield from ((f"{name}, {r} ranks", ["--topology", text, "--ranks", str(r)]) for r in RANKS)
    for file in sorted(folder.glob("*.xml")) if folder else []:
        yield from ((f"{file.stem}, {r} ranks", ["--topology", str(file), "--ranks", str(r)]) for r in RANKS)
    for hosts, network in itertools.product(HOSTS, NETWORKS):
        yield f"hosts {hosts} over {network}", ["--hosts", hosts, "--network", *network.split(",")]


def chosen(command, verb, size, options):
    """The algorithms of the default, or nothing where the machine has no room for the ranks."""
    said = subprocess.run([command, "why", verb, *([] if verb == "barrier" else [size]), *options, "--json"], capture_output=True,
                          text=True, env={**os.environ, "COSET_TUNING": "off"})
    if said.returncode != 0:
        return None
    text = json.loads(said.stdout)["chosen"]["algorithm"]
    parts = [part for _, part in re.findall(r"\b(between|within|inside)=([a-z_]+)", text)]
    return text, {re.match(r"\w+", text)[0], *parts}


def names(command):
    listed = subprocess.run([command, "list", "--ranks", "8"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in listed.splitlines()[1:] if re.match(r"[a-z]\w+ ", line)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", metavar="COSET")
    parser.add_argument("--machines", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    given = parser.parse_args()
    asked = [(verb, size, where, options) for where, options in cells(given.machines) for verb in VERBS
             for size in (SIZES if verb != "barrier" else SIZES[:1])]
    counts, example, answered = collections.Counter(), {}, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, ((verb, size, where, _), found) in enumerate(
                zip(asked, pool.map(lambda cell: chosen(given.command, cell[0], cell[1], cell[3]), asked))):
            if sys.stderr.isatty() and number % 50 == 0:
                print(f"\r{number} of {len(asked)}", end="", file=sys.stderr)
            if found:
                answered += 1
                for name in found[1]:
                    counts[name] += 1
                    example.setdefault(name, f"{verb} {size}, {where}: {found[0]}")
    never = [name for name in names(given.command) if name not in counts]
    print(f"{answered} calls on {len(MACHINES)} machines{' and those in ' + str(given.machines) if given.machines else ''}, and between hosts")
    print(f"{'algorithm':<22} {'taken':>6}  first")
    for name, count in counts.most_common():
        print(f"{name:<22} {count:>6}  {example[name]}")
    print("taken by no default:", ", ".join(never))
    if given.json:
        given.json.write_text(json.dumps({"calls": answered, "taken": counts, "never": never, "first": example}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
