#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps what coset took on each kind of machine, and says what has become slower since.

usage: baseline.py append MACHINE BENCH…
       baseline.py compare MACHINE BENCH…

MACHINE is what `coset info --json` has printed, each BENCH a file of `coset bench --json`. The figures are in
bench/baselines/FINGERPRINT.jsonl, a line for each verb, number of ranks, size and state of the machine; the last line of its
kind is what is compared with, if cores were as far from each other: *near* is relative, and hosts move virtual machines. `./dev bench --baseline` and `--compare` measure and call this.

Compared are the medians of rounds: 1.80× says that coset is 1.8 times faster than it was, with a 95 % interval by resampling
each run's rounds; rounds of two runs are no pairs, and the interval knows nothing of what differs between runs. *slower*: the whole interval is below 1/1.05, *undecided*: it straddles that. Beside it stands what has become of the
rivals: where they have changed as much, the machine has changed. It reports, and its exit status is 0 whatever it finds.
"""
import json
import pathlib
import random
import re
import statistics
import sys

from figures import size_text, state_text

FOLDER = pathlib.Path(__file__).parent / "baselines"
TOLERANCE, FEWEST_ROUNDS, RESAMPLINGS = 1.05, 6, 2000  # those of src/command/measure/harness/statistics.hpp
AS_FAR = 1.5  # latencies of one state are within so many times each other
KEY = ("verb", "ranks", "timing", "type", "op", "size", "state")


def fingerprint(machine, processor):
    """'amd-epyc-9r14-2-cores-1-node': machines of the same kind have the same."""
    def plural(number, word):
        return f"{number}-{word}" + ("s" if number != 1 else "")
    model = re.sub(r"[^a-z0-9]+", "-", processor.lower()).strip("-")
    return f"{model}-{plural(machine['cores'], 'core')}-{plural(len(machine['nodes']), 'node')}"


def cells_of(bench):
    """Of each size and state: coset's rounds, and of each round the median of its rivals."""
    for size in bench["sizes"]:
        for state in size["states"]:
            own = next(row["rounds_ns"] for row in state["rows"] if row["who"] == "coset")
            rivals = [row["rounds_ns"] for row in state["rows"] if row["family"] not in ("coset", "reference")]
            yield {"date": bench["date"], "commit": bench["commit"], "compiler": bench["compiler"],
                   "verb": bench["verb"], "ranks": bench["ranks"], "timing": bench["timing"], "type": size["type"], "op": size["op"],
                   "size": size["size"], "state": state["state"], "one_way_ns": round(state["one_way_ns"], 1),
                   "coset_ns": [round(ns, 2) for ns in own],
                   "rivals_ns": [round(statistics.median(all_of), 2) for all_of in zip(*rivals)]}


def key_of(cell):
    return tuple(cell[name] for name in KEY)


def last_like(cell, kept):
    """The last line of this kind, or None."""
    def is_as_far(other):
        few, many = sorted((cell["one_way_ns"], other["one_way_ns"]))
        return many <= AS_FAR * few
    like = [other for other in kept if key_of(other) == key_of(cell) and is_as_far(other)]
    return like[-1] if like else None


def compared(then, now):
    """(median, low, high) of how many times faster now is."""
    if not then or not now:
        return None
    chance = random.Random(20240229)

    def drawn(times):
        return statistics.median(chance.choices(times, k=len(times)))
    ratios = sorted(drawn(then) / drawn(now) for _ in range(RESAMPLINGS))
    return statistics.median(then) / statistics.median(now), ratios[int(0.025 * RESAMPLINGS)], ratios[int(0.975 * RESAMPLINGS) - 1]


def verdict(found, rounds):
    _, low, high = found
    if rounds < FEWEST_ROUNDS:
        return "undecided"
    if high < 1 / TOLERANCE:
        return "slower"
    if low < 1 / TOLERANCE:
        return "undecided"
    return "faster" if low > 1 else "level"


def lines_of(cells, kept):
    """A line of the table for each cell."""
    for cell in cells:
        then = last_like(cell, kept)
        name = f"{cell['verb']:<15} {cell['ranks']:>5} {size_text(cell['size']):>8}  {state_text(cell):<16}"
        now_us = statistics.median(cell["coset_ns"]) / 1000
        if then is None:
            yield f"{name} {'':>10} {now_us:>10.3f}  nothing to compare with"
            continue
        found = compared(then["coset_ns"], cell["coset_ns"])
        rivals = compared(then["rivals_ns"], cell["rivals_ns"])
        rounds = min(len(then["coset_ns"]), len(cell["coset_ns"]))
        yield (f"{name} {statistics.median(then['coset_ns']) / 1000:>10.3f} {now_us:>10.3f}  "
               f"{found[0]:.2f}× [{found[1]:.2f}, {found[2]:.2f}] {verdict(found, rounds)}"
               + (f"; its rivals {rivals[0]:.2f}×" if rivals else "") + f"; since {then['date'][:10]}, {then['commit']}")


def main(arguments):
    if len(arguments) < 3 or arguments[0] not in ("append", "compare"):
        sys.exit(__doc__)
    machine, *benches = (json.loads(pathlib.Path(path).read_text(encoding="utf-8")) for path in arguments[1:])
    file = FOLDER / f"{fingerprint(machine, benches[0]['processor'])}.jsonl"
    cells = [cell for bench in benches for cell in cells_of(bench)]
    if arguments[0] == "append":
        FOLDER.mkdir(exist_ok=True)
        with open(file, "a", encoding="utf-8") as out:
            out.writelines(json.dumps(cell) + "\n" for cell in cells)
        print(f"{len(cells)} lines appended to {file}")
        return
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    kept = [json.loads(line) for line in lines]
    print(f"{file}: {len(lines)} lines\n"
          f"{'verb':<15} {'ranks':>5} {'size':>8}  {'cores are':<16} {'then, µs':>10} {'now, µs':>10}  how many times faster now")
    print("\n".join(lines_of(cells, kept)))


if __name__ == "__main__":
    main(sys.argv[1:])
