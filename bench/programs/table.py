#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From the JSON files of programs_bench to the Markdown tables of docs/reducer.md.

usage: table.py FILE...
"""
import json
import sys

RIVALS = ("clause", "atomics", "by hand", "by hand, in place", "tbb by hand", "each time, by hand")
OWN = ("coset, in place", "coset, made anew", "coset::tbb", "each time, coset")


def cell(row):
    """How many times coset's its time is; in brackets where the interval does not tell which is faster."""
    c = row["coset_faster"]
    text = f"{c['median']:.2f}"
    return text if c["low"] > 1 or c["high"] < 1 else f"({text})"


def table(runs):
    yield "| program | threads | coset, µs | " + " | ".join(RIVALS + OWN) + " |"
    yield "|---" * (3 + len(RIVALS + OWN)) + "|"
    for run in runs:
        rows = {row["who"]: row for row in run["rows"]}
        cells = [cell(rows[who]) if who in rows else "–" for who in RIVALS + OWN]
        yield f"| {run['program']} | {run['threads']} | {rows['coset']['median_ns'] / 1e3:.0f} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            print(f"\n{name}\n")
            print("\n".join(table(json.load(file))))
