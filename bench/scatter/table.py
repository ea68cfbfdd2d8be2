#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From the JSON files of scatter_bench to the Markdown tables of docs/reducer.md.

usage: table.py FILE...

Ways that differ in a detail only share a column, which has the best of them. A ratio is the time of a way as a multiple of
coset's choice, in brackets if the 95 % interval does not tell which is faster. A regret is the time of coset's choice as a
multiple of the best; bold where its interval lies above 1.1, with (?) where only its median does.
"""
import json
import sys

RIVALS = {
    "serial": ("serial",),
    "atomics": ("omp atomic", "ScatterView, atomic"),
    "scan": ("scan", "scan, compacting"),
    "private": ("private, kept", "private, made anew", "ScatterView, duplicated"),
    "clause": ("omp clause",),
    "partition": ("partition 2^12", "partition 2^14", "partition 2^16", "partition 2^18", "partition 2^14, lines",
                  "partition 2^16, lines", "partition 2^16, anew"),
    "sorted": ("sort and segment",),
    "hash maps": ("hash maps",),
}
OWN = {
    "one thread": ("coset one_thread",),
    "scan": ("coset owner_scan",),
    "partition": ("coset partition",),
    "copies": ("coset private_copies",),
    "atomics": ("coset atomics",),
}
OTHERS = {
    "sparse, kept": ("coset sparse, kept",),
    "sparse, anew": ("coset sparse, anew",),
    "dense, kept": ("coset dense, kept",),
    "dense, anew": ("coset dense, anew",),
}
MOST_REGRET = 1.1


def ratio(rows, names):
    """Of the best way among these; a bound where all were too far behind to play, a dash where none was there."""
    played = [rows[name] for name in names if "median_ns" in rows.get(name, {})]
    if not played:
        return "far" if any(name in rows for name in names) else "–"
    c = min(played, key=lambda row: row["median_ns"])["coset_faster"]
    text = f"{c['median']:.2f}"
    return text if c["low"] > 1 or c["high"] < 1 else f"({text})"


def regret(found):
    text = f"{found['median']:.2f}"
    if found["low"] > MOST_REGRET:
        return f"**{text}** {found['best']}"
    return f"{text} (?) {found['best']}" if found["median"] > MOST_REGRET else text


def time_of(nanoseconds):
    return f"{nanoseconds / 1e3:.1f}" if nanoseconds < 1e5 else f"{nanoseconds / 1e3:.0f}"


def table(cells, columns):
    yield "| cell | updates | chosen | coset, µs | " + " | ".join(columns) + " | regret | of own ways |"
    yield "|---" * (6 + len(columns)) + "|"
    for cell in cells:
        rows = {row["who"]: row for row in cell["rows"]}
        ratios = " | ".join(ratio(rows, names) for names in columns.values())
        yield (f"| {cell['cell']} | {cell['updates']} | {cell['plan'].split(',')[0]} | {time_of(rows['coset']['median_ns'])} "
               f"| {ratios} | {regret(cell['regret'])} | {regret(cell['own_regret'])} |")


def first_uses(cells):
    """Both on a first use: coset as a multiple of the best of the others."""
    yield "| cell | coset, µs | best rival | µs | coset ÷ best |"
    yield "|---" * 5 + "|"
    for cell in cells:
        rows = {row["who"]: row["median_ns"] for row in cell["rows"]}
        best = min((who for who in rows if not who.startswith("coset")), key=rows.get)
        found = rows["coset"] / rows[best]
        text = f"**{found:.2f}**" if found > 1.5 else f"{found:.2f}"
        yield f"| {cell['cell']} | {time_of(rows['coset'])} | {best} | {time_of(rows[best])} | {text} |"


def report(found):
    for threads in sorted({cell["threads"] for cell in found}):
        cells = [cell for cell in found if cell["threads"] == threads]
        warm = [cell for cell in cells if "first_use" not in cell]
        cold = [cell for cell in cells if "first_use" in cell]
        if warm:
            missed = sum(cell["regret"]["low"] > MOST_REGRET for cell in warm)
            yield f"{threads} threads, {len(warm)} cells, {missed} missed. Rivals:\n"
            yield from table(warm, RIVALS)
            yield "\ncoset's ways:\n"
            yield from table(warm, OWN | OTHERS)
        if cold:
            yield f"\n{threads} threads, first use of a process:\n"
            yield from first_uses(cold)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            print(f"\n{name}\n")
            print("\n".join(report(json.load(file))))
