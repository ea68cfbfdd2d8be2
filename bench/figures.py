#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From the JSON files of `coset bench` to the Markdown table that the README shows.

usage: figures.py FILE...
"""
import json
import sys


def size_text(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def state_text(state):
    """'near, 107 ns': which states are near is relative to the nearest pair that was seen."""
    return f"{state['state']}, {state['one_way_ns']:.0f} ns" if state["one_way_ns"] > 0 else state["state"]


FEWEST_ROUNDS = 5
# Rivals that a table shows apart, by what one has to write for them.
KINDS = {
    "the best OpenMP way": lambda row: row["family"] == "omp",
    "the best flags by hand": lambda row: row["who"].startswith("flags"),
    "the best other": lambda row: row["family"] != "omp" and not row["who"].startswith("flags"),
}


def best_of(rows):
    """The fastest of the rivals: (its row, how many times coset's its time is, with the interval)."""
    if not rows:
        return None
    row = min(rows, key=lambda row: row["times_faster"]["median"])
    return row, [row["times_faster"][key] for key in ("low", "median", "high")]


def cell(found):
    """'1.59× [1.58, 1.69] omp push', and ✗ where coset is slower beyond doubt."""
    if found is None:
        return "–"
    row, (low, middle, high) = found
    return f"{middle:.2f}× [{low:.2f}, {high:.2f}] {row['who']}" + (" ✗" if high < 1 / 1.03 else "")


def lines_of(file):
    """One line for each size and state of the machine that lasted."""
    verb = file["verb"]
    call = file["timing"] == "call"
    for size in file["sizes"]:
        states = [state for state in size["states"] if state["rounds"] >= FEWEST_ROUNDS] or size["states"][:1]
        for state in states:
            shares = verb in ("reduce_shared", "allreduce_view")
            # Like with like: one result for all, or one for each.
            rivals = [row for row in state["rows"] if row["family"] not in ("reference", "floor", "coset") and "times_faster" in row
                      and (shares or row["who"] != "omp shared")]
            own = next(row for row in state["rows"] if row["who"] == "coset")
            yield " | ".join([
                f"| {verb}{', call alone' if call else ''}", str(file["ranks"]), size_text(size["size"]), state_text(state),
                f"{own['median_ns'] / 1000:.2f}",
                *(cell(best_of([row for row in rivals if kind(row)])) for kind in KINDS.values())]) + " |"


def table(figures):
    yield f"| verb | ranks | size | cores are | µs | {' | '.join('than ' + name for name in KINDS)} |"
    yield "|---" * (5 + len(KINDS)) + "|"
    for file in figures:
        yield from lines_of(file)


def main(paths):
    if not paths:
        sys.exit(__doc__)
    figures = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            figures.append(json.load(file))
    print("\n".join(table(figures)))


if __name__ == "__main__":
    main(sys.argv[1:])
