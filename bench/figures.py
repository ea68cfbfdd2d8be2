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


# What coset is meant to reach: times the flag floor at most, and times faster than the best OpenMP way at least, from
# each size on; where the cores are near each other, and where they are not.
FLOOR = {0: 1.25, 65: 2, 1024: 2.5, 1025: None}
FASTER = {
    ("allreduce", "near"): {0: 1.3, 65: 3, 8 << 10: 1.5, 64 << 10: 2, 1 << 20: 1.15, 4 << 20: 1.5, 16 << 20: 1.3},
    ("allreduce", "apart"): {0: 1.3, 65: 3, 8 << 10: 1.3, 64 << 10: 4, 4 << 20: 1.7, 16 << 20: 1.3},
    ("reduce_shared", "near"): {0: 1.6, 2048: 1},
    ("reduce_shared", "apart"): {0: 1.6, 2048: 1},
}
FASTER_THAN_MPI = {0: 2.5, 8 << 10: 4, 512 << 10: 2.5}  # the call alone
TRAFFIC = 1.2  # times the bare memory traffic at most
FEWEST_ROUNDS = 5


def target(table, size):
    return next((value for start, value in sorted(table.items(), reverse=True) if size >= start), None)


def against(rows, wanted):
    """The fastest of the rivals: (its row, how many times coset's its time is, with the interval)."""
    rivals = [row for row in rows if row["family"] not in ("floor", "coset") and "ratio" in row and wanted(row)]
    if not rivals:
        return None
    row = max(rivals, key=lambda row: row["ratio"]["median"])
    return row, [1 / row["ratio"][key] for key in ("high", "median", "low")]


def cell(found, wanted):
    """'1.59× [1.58, 1.69] omp copies', with what was wanted and whether it holds where something was."""
    if found is None:
        return "–"
    row, (low, middle, high) = found
    text = f"{middle:.2f}× [{low:.2f}, {high:.2f}] {row['who']}"
    if wanted is None:
        return text if high > 1 / 1.05 else text + " ✗"
    return text + f", wanted {wanted:g}: {'✓' if middle >= wanted else '✗'}"


def floor_cell(rows, wanted):
    """Times the flags of small vectors, or the bare memory traffic of large ones."""
    if "traffic" in rows:
        row, wanted = rows["traffic"], TRAFFIC
    else:
        row = rows["flag floor"]
    ratio = row["ratio"]["median"]
    if wanted is None:
        return "–"
    return f"{ratio:.2f}, wanted {wanted:g}: {'✓' if ratio <= wanted else '✗'}"


def lines_of(file):
    """One line for each size and state of the machine that lasted."""
    verb = file["verb"]
    call = file["timing"] == "call"
    for size in file["sizes"]:
        states = [state for state in size["states"] if state["rounds"] >= FEWEST_ROUNDS] or size["states"][:1]
        for state in states:
            rows = {row["who"]: row for row in state["rows"]}
            shares = verb in ("reduce_shared", "allreduce_view")
            near = "near" if state["state"] == "near" else "apart"
            # Like with like: one result for all, or one for each.
            by_hand = {"omp shared"} if shares else {"omp copies", "omp private", "omp reduction", "omp by hand"}
            openmp = against(state["rows"], lambda row: row["who"] in by_hand)
            others = against(state["rows"], lambda row: row["who"] not in by_hand and (shares or row["who"] != "omp shared"))
            small = size["size"] if verb in ("allreduce", "barrier") else 1 << 30
            yield " | ".join([
                f"| {verb}{', call alone' if call else ''}", str(file["ranks"]), size_text(size["size"]), state["state"],
                f"{rows['coset']['median_ns'] / 1000:.2f}",
                floor_cell(rows, target(FLOOR, small)),
                cell(openmp, target(FASTER.get((verb, near), {}), size["size"])),
                cell(others, target(FASTER_THAN_MPI, size["size"]) if call else None)]) + " |"


def table(figures):
    yield "| verb | ranks | size | cores are | µs | ÷ floor | faster than the best OpenMP way | than the best other |"
    yield "|---|---|---|---|---|---|---|---|"
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
