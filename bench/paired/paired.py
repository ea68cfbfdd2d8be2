#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two builds of the library against each other in one process, for machines that move between processes.

    paired.py OLD_SOURCE NEW_SOURCE [--build build/release] [--processes 40]

Both are source folders with a build in them. Each library is linked with a loop of its own into one object whose other
names are hidden; both objects become one program, once in each order, as the place of code counts, too. Prints for each
size the medians and the median ratio, new to old, with its bootstrap 95 % interval; and the same for the old one
against itself, which has to be 1 within the interval for the others to mean anything. And how many turns took a third
longer: teams that learned the wrong plan, or met another state of the machine.
"""
import argparse
import pathlib
import random
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LIBRARIES = ["-lhwloc", "-lfmt", "-lhwy", "-lpthread", "-latomic"]
# The place of loops must not count.
FLAGS = ["-std=c++20", "-O3", "-fPIE", "-falign-functions=64", "-falign-loops=64"]


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def one_version(folder, source, build, name, label):
    """An object with all of one version, in which only measure_NAME can be seen."""
    loop, whole, made = (folder / f"{label}_{part}.o" for part in ("loop", "whole", "made"))
    run("g++", *FLAGS, f"-DPAIRED_NAME=measure_{name}", f"-I{source}/include", "-c", HERE / "cycle.cpp", "-o", loop)
    run("ld", "-r", "--force-group-allocation", loop, source / build / "libcoset.a", "-o", whole)
    # Weak and unique symbols would be shared between versions, local or not.
    shared = {line.split()[2] for line in run("nm", whole).splitlines() if len(line.split()) == 3 and line.split()[1] in "uVW"}
    names = folder / f"{label}_names"
    names.write_text("".join(f"{symbol} {symbol}__{label}\n" for symbol in sorted(shared)), encoding="utf-8")
    run("objcopy", f"--redefine-syms={names}", whole, made)
    run("objcopy", f"--keep-global-symbol=measure_{name}", made)
    return made


def program(folder, name, objects):
    run("g++", "-O2", HERE / "turns.cpp", *objects, "-o", folder / name, *LIBRARIES)
    return folder / name


def report(what, lines):
    by_size = {}
    for line in lines:
        size, old, new = line.split()
        by_size.setdefault(int(size), []).append((float(old), float(new)))
    for size, turns in by_size.items():
        ratios = [new / old for old, new in turns]
        medians = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(1000))
        old, new = (statistics.median(column) for column in zip(*turns))
        print(f"{what:12} {size:>7} B  {old:10.1f} {new:10.1f} ns  "
              f"{statistics.median(ratios):6.3f} [{medians[25]:.3f}, {medians[975]:.3f}]  "
              f"{sum(ratio > 4 / 3 for ratio in ratios)} of {len(ratios)} turns a third longer")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--processes", type=int, default=40)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        old = one_version(folder, asked.old, asked.build, "old", "old")
        new = one_version(folder, asked.new, asked.build, "new", "new")
        same = one_version(folder, asked.old, asked.build, "new", "same")
        both = [program(folder, "forward", [old, new]), program(folder, "backward", [new, old])]
        itself = program(folder, "itself", [old, same])
        found, null = [], []
        for turn in range(asked.processes):
            found += run(both[turn % 2]).splitlines()
            null += run(itself).splitlines()
    report("new / old", found)
    report("old / old", null)


if __name__ == "__main__":
    main()
