#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coset.add_at(), bincount() and histogram() beside numpy's, both in turns in one process.

usage: updates.py FOLDER [--ways] [--rounds N] [--updates N...] [--lengths N...]

FOLDER is where the module lies. Each figure is the median, over rounds, of numpy's time divided by coset's: how many times faster
coset is, with the interval that has 95 % of 2,000 resamples of the rounds. Every result is compared with numpy's, bit for bit.
numpy.add.at is asked for as many as 4 Mi updates only: up to numpy 1.24 each takes 60 ns and more. --ways: each way of add_at,
beside bincount.
"""
import argparse
import random
import statistics
import sys
import time

import numpy as np

WAYS = ("one_thread", "owner_scan", "partition", "private_copies", "atomics")
MOST_OF_ADD_AT = 1 << 22


def taken(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def ratio(ours, theirs, rounds):
    """(seconds of ours, times faster, 2.5 % and 97.5 % of it)."""
    ours(), theirs()
    pairs = []
    for k in range(rounds):
        if k % 2 == 0:
            mine, other = taken(ours), taken(theirs)
        else:
            other, mine = taken(theirs), taken(ours)
        pairs.append((mine, other / mine))
    of = [faster for _, faster in pairs]
    choices = random.Random(1)
    again = sorted(statistics.median(choices.choices(of, k=len(of))) for _ in range(2000))
    return statistics.median(mine for mine, _ in pairs), statistics.median(of), again[50], again[1949]


def row(name, length, updates, ours, theirs, rounds):
    seconds, faster, low, high = ratio(ours, theirs, rounds)
    print(f"| {name} | {length:,} | {updates:,} | {seconds * 1e3:.2f} | {faster:.2f}× | {low:.2f}–{high:.2f} |", flush=True)


def rows_of(coset, length, updates, wanted):
    keys = np.random.default_rng(1).integers(0, length, updates)
    values = np.random.default_rng(2).normal(size=updates)
    target, other = np.zeros(length), np.zeros(length)
    assert coset.bincount(keys, values, length).tobytes() == np.bincount(keys, values, length).tobytes()

    def add_at(**options):
        return lambda: coset.add_at(target, keys, values, **options)

    def bincount():
        np.bincount(keys, values, length)
    if wanted.ways:
        for way in WAYS:
            row(f"add_at, {way} / bincount with weights", length, updates,
                add_at(way=way, serial=way in WAYS[:3]), bincount, wanted.rounds)
    row("add_at / bincount with weights", length, updates, add_at(), bincount, wanted.rounds)
    if wanted.ways:
        return
    row("bincount with weights", length, updates, lambda: coset.bincount(keys, values, length), bincount, wanted.rounds)
    row("bincount", length, updates, lambda: coset.bincount(keys, minlength=length),
        lambda: np.bincount(keys, minlength=length), wanted.rounds)
    if updates <= MOST_OF_ADD_AT:
        row("add_at", length, updates, add_at(), lambda: np.add.at(other, keys, values), 3)
    row("histogram", length, updates, lambda: coset.histogram(values, length, (-3, 3)),
        lambda: np.histogram(values, length, (-3, 3)), 5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--ways", action="store_true")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--updates", type=int, nargs="+", default=[1 << 20, 1 << 23])
    parser.add_argument("--lengths", type=int, nargs="+", default=[1 << 10, 1 << 16, 1 << 20, 1 << 24])
    wanted = parser.parse_args()
    sys.path.insert(0, wanted.folder)
    import coset
    print("| what | length | updates | coset, ms | times faster | 95 % |\n|---|---:|---:|---:|---:|---:|")
    for length in wanted.lengths:
        for updates in wanted.updates:
            rows_of(coset, length, updates, wanted)


if __name__ == "__main__":
    main()
