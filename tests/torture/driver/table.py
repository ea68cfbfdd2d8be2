#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""table.py COUNTS DOCUMENT: puts the table of what `./dev torture --write` has counted into the document, between its marks."""
import datetime
import pathlib
import sys

VERDICTS = ["right", "in words", "ended", "wrong", "silent", "hung", "died"]
BEGIN, END = "<!-- torture: ./dev torture --write -->", "<!-- end of torture -->"


def table(text):
    """A row for each fault. Raises ValueError for lines that are none of the driver's."""
    by_fault = {}
    cells, least = set(), None
    for line in text.splitlines():
        fault, team, deed, *counts = line.split("\t")
        if len(counts) != len(VERDICTS):
            raise ValueError(f"no line of counts: {line}")
        counts = [int(count) for count in counts]
        by_fault[fault] = [a + b for a, b in zip(by_fault.get(fault, [0] * len(VERDICTS)), counts)]
        cells.add((fault, team, deed))
        least = min(sum(counts), least) if least is not None else sum(counts)
    rows = ["| fault | cases | right | an error in words | ended as asked | silent, wrong, hung or died |", "|---|---|---|---|---|---|"]
    by_fault["**all**"] = [sum(column) for column in zip(*by_fault.values())]
    for fault, sums in by_fault.items():
        rows.append(f"| {fault} | {sum(sums):,} | {sums[0]:,} | {sums[1]:,} | {sums[2]:,} | {sum(sums[3:]):,} |")
    today = datetime.datetime.now(datetime.timezone.utc).date()
    return "\n".join([*rows, "", f"{len(cells):,} cells, each at least {least} times, {today}."])


def put(document, made):
    """Raises ValueError where the document has no place for it."""
    begin, end = document.find(BEGIN), document.find(END)
    if begin < 0 or end < begin:
        raise ValueError(f"no place between {BEGIN} and {END}")
    return document[:begin] + f"{BEGIN}\n{made}\n" + document[end:]


if __name__ == "__main__":
    counts, document = map(pathlib.Path, sys.argv[1:])
    document.write_text(put(document.read_text(), table(counts.read_text())))
