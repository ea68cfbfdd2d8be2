#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two builds of the library against each other in one process, for machines that move between processes.

    paired.py OLD_SOURCE NEW_SOURCE [--calls] [--build build/release] [--processes 40]

Both are source folders with a build in them: `git worktree add ../old main` and a build of target coset there make one. Each library is linked with a loop of its own into one object whose other
names are hidden; both objects become one program, once in each order, as the place of code counts, too. Prints for each
size the medians and the median ratio, new to old, with its bootstrap 95 % interval; and the same for the old one
against itself, which has to be 1 within the interval for the others to mean anything. And how many turns took a third
longer: teams that learned the wrong plan, or met another state of the machine.

Without --calls cycles of {rewrite, allreduce} on 2 ranks, of new teams in each turn. With it calls back to back on 1 and 2
ranks, of 8 bytes and somewhat more; bursts alternate between two teams that live side by side. An interval whose upper end is at most
1.02 (8 bytes, barriers) or 1.05 (longer sums) is *within*, one that is wholly beyond is *slower*; exit status 1 if one is.
"""
import argparse
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LIBRARIES = ["-lhwloc", "-lfmt", "-lhwy", "-lpthread", "-latomic"]
# The place of loops must not count.
FLAGS = ["-std=c++20", "-O3", "-fPIE", "-falign-functions=64", "-falign-loops=64"]


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def one_version(folder, source, build, name, label, loop_of):
    """An object with all of one version, in which only measure_NAME can be seen."""
    loop, whole, made = (folder / f"{label}_{part}.o" for part in ("loop", "whole", "made"))
    run("g++", *FLAGS, f"-DPAIRED_NAME=measure_{name}", f"-I{source}/include", "-c", HERE / loop_of, "-o", loop)
    run("ld", "-r", "--force-group-allocation", loop, source / build / "libcoset.a", "-o", whole)
    # Weak and unique symbols would be shared between versions, local or not.
    shared = {line.split()[2] for line in run("nm", whole).splitlines() if len(line.split()) == 3 and line.split()[1] in "uVW"}
    names = folder / f"{label}_names"
    names.write_text("".join(f"{symbol} {symbol}__{label}\n" for symbol in sorted(shared)), encoding="utf-8")
    run("objcopy", f"--redefine-syms={names}", whole, made)
    run("objcopy", f"--keep-global-symbol=measure_{name}", made)
    return made


def program(folder, name, turns, objects):
    run("g++", "-std=c++20", "-O2", HERE / turns, *objects, "-o", folder / name, *LIBRARIES)
    return folder / name


LIMITS = {"8_B": 1.02, "of_a_double": 1.02, "barrier": 1.02, "": 1.05}  # those of the first part that a shape's name has


def verdict(shape, low, high):
    limit = next(limit for part, limit in LIMITS.items() if part in shape)
    return "within" if high <= limit else "slower" if low > limit else "undecided"


def report(what, lines):
    """A line for each shape: all words of a line but the last two, the times of the old one and of the new one. Who is slower."""
    by_shape = {}
    for line in lines:
        *shape, old, new = line.split()
        by_shape.setdefault(" ".join(shape), []).append((float(old), float(new)))
    slower = []
    for shape, turns in by_shape.items():
        ratios = [new / old for old, new in turns]
        medians = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(1000))
        old, new = (statistics.median(column) for column in zip(*turns))
        found = verdict(shape, medians[25], medians[975])
        if found == "slower":
            slower.append(shape)
        print(f"{what:9} {shape:>24}  {old:10.1f} {new:10.1f} ns  "
              f"{statistics.median(ratios):6.3f} [{medians[25]:.3f}, {medians[975]:.3f}] {found:9}  "
              f"{sum(ratio > 4 / 3 for ratio in ratios)} of {len(ratios)} turns a third longer")
    return slower


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--processes", type=int, default=40)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        loop, turns = ("calls.cpp", "calls_turns.cpp") if asked.calls else ("cycle.cpp", "turns.cpp")
        old = one_version(folder, asked.old, asked.build, "old", "old", loop)
        new = one_version(folder, asked.new, asked.build, "new", "new", loop)
        same = one_version(folder, asked.old, asked.build, "new", "same", loop)
        both = [program(folder, "forward", turns, [old, new]), program(folder, "backward", turns, [new, old])]
        itself = program(folder, "itself", turns, [old, same])
        found, null = [], []
        for turn in range(asked.processes):
            found += run(both[turn % 2]).splitlines()
            null += run(itself).splitlines()
    slower = report("new / old", found)
    report("old / old", null)
    sys.exit(1 if asked.calls and slower else 0)


if __name__ == "__main__":
    main()
