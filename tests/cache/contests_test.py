#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""On machines that nobody here has: how much longer what the library chooses takes than the fastest plan that is simulated.

    contests_test.py COSET              some of the small machines' cells, with COSET_TEST_EFFORT=long all
    contests_test.py COSET --print      all, as a table
    contests_test.py COSET --renew      takes out of behind.txt what is behind no more, and lowers what is less so; adds nothing
    contests_test.py COSET --rows       the rows that behind.txt lacks, for whoever has a reason to add them

A cell is a machine, a verb and a size. behind.txt lists those in which the chosen plan takes over a tenth longer, how much
longer, and why: the rule by which `coset why` removes the fastest plan, "price" if the model finds it dearer, or "unknown" if
it is none of the choice's candidates. A cell fails if it takes another tenth longer than that, and a listed one if it is
behind no more. Nothing here knows the model's constants.
"""
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import sys
import unittest

COSET = sys.argv.pop(1)
SMALL, LONG = (os.environ.get("COSET_TEST_EFFORT") == effort for effort in ("small", "long"))
LIST = pathlib.Path(__file__).with_name("behind.txt")
MOST = 1.1

LARGE = {"2x64": "package:2 numa:1 l3:1 core:64 pu:1", "24x8": "package:1 l3:24 core:8 pu:1", "4x28": "package:4 core:28 pu:1"}
MACHINES = {**{str(ranks): f"core:{ranks} pu:1" for ranks in range(3, 17)}, "2x4": "numa:2 core:4 pu:1", **LARGE}
VERBS = ["allreduce", "reduce", "reduce_scatter", "allgather", "broadcast", "gather", "scatter", "all_to_all", "scan", "exclusive_scan"]
SIZES = [8, 64, 1 << 10, 8 << 10, 64 << 10, 1 << 20]
# One of hundreds of ranks takes up to ten seconds of a processor, and more with more bytes.
IN_LARGE = [("allreduce", "reduce_scatter", "broadcast"), (8, 1 << 10, 8 << 10, 64 << 10)]
ALL = [(machine, verb, size) for machine in MACHINES for verb in VERBS for size in SIZES
       if machine not in LARGE or (verb in IN_LARGE[0] and size in IN_LARGE[1])]
# Shares no factor with how many there are of verbs and sizes.
STEP = 1 if LONG else 101 if SMALL else 29


def run(*arguments):
    made = subprocess.run([COSET, *map(str, arguments), "--json"], capture_output=True, text=True, timeout=900, check=False)
    if made.returncode != 0:
        raise AssertionError(f"{arguments}: {made.stderr}")
    return json.loads(made.stdout)


def contest(cell):
    """Chosen ÷ fastest, and both plans."""
    machine, verb, size = cell
    rows = run("simulate", verb, size, "--topology", MACHINES[machine], "--considered", 16)["machines"][0]["sizes"][0]["plans"]
    plans = [row for row in rows if row["plan"] != "barriers"]
    chosen, = (row for row in plans if row["chosen"])
    return chosen["seconds"] / plans[0]["seconds"], chosen["plan"], plans[0]["plan"]


def cause(cell, fastest):
    machine, verb, size = cell
    algorithm, _, storage = fastest.rpartition("/")
    said = run("why", verb, size, "--topology", MACHINES[machine])["candidates"]
    same = [row for row in said if row["algorithm"] == algorithm]
    if not same:
        return "unknown"
    if all(row["removed_by"] for row in same):
        return same[0]["removed_by"]
    return "price" if any(row["storage"].split("_")[0] == storage.split("_")[0] for row in same) else "price of " + storage


def tested():
    return [cell for cell in ALL if LONG or cell[0] not in LARGE][::STEP]


def in_parallel(work, cells):
    """In the order of the cells, each as soon as it is there."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(work, cells)


def listed():
    """{(machine, verb, size): (so many times as long, why)}."""
    rows = {}
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            machine, verb, size, ratio, why = (part.strip() for part in line.split("|"))
            rows[machine, verb, int(size)] = float(ratio), why
    return rows


def line_of(cell, ratio, why):
    machine, verb, size = cell
    return f"{machine:>4} | {verb:<14} | {size:>7} | {math.ceil(100 * ratio - 0.01) / 100:5.2f} | {why}\n"


class Contests(unittest.TestCase):
    def test_the_choice_is_within_a_tenth_of_the_fastest_or_listed(self):
        allowed = listed()
        cells = tested()
        for cell, (ratio, chosen, fastest) in zip(cells, in_parallel(contest, cells)):
            with self.subTest(cell):
                before, _ = allowed.get(cell, (1, ""))
                self.assertLessEqual(ratio, MOST * before, f"{chosen} is chosen, {fastest} is the fastest")
                if cell in allowed:
                    self.assertGreater(ratio, MOST, f"behind no more: {__file__} COSET --renew")

    def test_the_list_has_cells_and_causes_only(self):
        rows = listed()
        self.assertLessEqual(rows.keys(), set(ALL))
        self.assertEqual([cell for cell in ALL if cell in rows], list(rows), "in the order of the cells, none twice")
        for cell, (ratio, why) in rows.items():
            self.assertGreater(ratio, MOST, cell)
            self.assertTrue(why, cell)


def print_all():
    for cell, (ratio, chosen, fastest) in zip(ALL, in_parallel(contest, ALL)):
        print(*cell, f"{ratio:.2f}", chosen, fastest, flush=True)


def renew():
    allowed = listed()
    kept = [line for line in LIST.read_text().splitlines(keepends=True) if line.startswith("#")]
    for cell, (ratio, _, _) in zip(allowed, in_parallel(contest, allowed)):
        most, why = allowed[cell]
        if ratio > MOST:
            kept.append(line_of(cell, min(most, ratio), why))
    LIST.write_text("".join(kept))


def missing_rows():
    cells = [cell for cell in ALL if cell not in listed()]
    for cell, (ratio, _, fastest) in zip(cells, in_parallel(contest, cells)):
        if ratio > MOST:
            print(end=line_of(cell, ratio, cause(cell, fastest)), flush=True)


if __name__ == "__main__":
    words = {"--print": print_all, "--renew": renew, "--rows": missing_rows}
    if len(sys.argv) > 1 and sys.argv[1] in words:
        words[sys.argv[1]]()
    else:
        unittest.main()
