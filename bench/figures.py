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


def best(rows, wanted):
    """The fastest of the rivals, as 'N × (who)'; ✗ marks a rival that is not slower for sure."""
    rivals = [row for row in rows if row["family"] != "floor" and "ratio" in row and wanted(row)]
    if not rivals:
        return "–"
    row = max(rivals, key=lambda row: row["ratio"]["median"])
    ratio = row["ratio"]
    low, middle, high = (1 / ratio[key] for key in ("high", "median", "low"))
    return f"{middle:.2f}× [{low:.2f}, {high:.2f}] {row['who']}{'' if low > 1 else ' ✗'}"


def table(figures):
    lines = ["| ranks | size | cores are | coset | ÷ flag floor | against the best OpenMP way | against the best other |",
             "|---|---|---|---|---|---|---|"]
    for file in figures:
        for size in file["sizes"]:
            state = max(size["states"], key=lambda state: state["rounds"])
            rows = {row["who"]: row for row in state["rows"]}
            floor = rows["flag floor"]["ratio"]["median"]
            lines.append(" | ".join([
                f"| {file['ranks']}", size_text(size["size"]),
                state["state"], f"{rows['coset']['median_ns'] / 1000:.2f} µs",
                f"{floor:.2f}" if floor < 20 else "–",
                best(state["rows"], lambda row: row["family"] == "omp" and row["who"] != "omp shared"),
                best(state["rows"], lambda row: row["family"] not in ("omp", "coset"))]) + " |")
    return lines


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
