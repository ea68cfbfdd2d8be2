#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a Plan JSON by executing it on sets: that it does what its collective requires, and that every property is
what the steps say. Knows the contract and the tests' definition of verbs only, shares nothing with the library.

    check_plan.py [FILE]      reads standard input without FILE; exit status 1 and the reason if the plan is wrong
"""
import json
import pathlib
import sys
from collections import Counter
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from definitions import definition, shape  # noqa: E402

KEYS = ["coset_plan", "collective", "algorithm", "parameters", "root", "ranks", "blocks", "steps", "result", "properties"]


class Wrong(Exception):
    pass


def demand(truth, reason):
    if not truth:
        raise Wrong(reason)


def fraction(text):
    value = Fraction(text)
    demand(isinstance(text, str) and str(value) == text, f"{text!r} is not a fraction in lowest terms")
    return value


class Values:
    """What each (rank, block, slot) holds: who contributed, how it was bracketed, and whether in rank order."""

    def __init__(self):
        self.numbers = {}  # a bracketing, (left, right) or a rank, to its number
        self.known = []    # by that number: (contributors, first rank, last rank, in order, each once)

    def leaf(self, rank):
        return self.number(("input", rank), (frozenset([rank]), rank, rank, True, True))

    def join(self, left, right):
        a, b = self.known[left], self.known[right]
        return self.number((left, right), (a[0] | b[0], a[1], b[2], a[3] and b[3] and a[2] < b[1],
                                           a[4] and b[4] and not a[0] & b[0]))

    def number(self, key, what):
        if key not in self.numbers:
            self.numbers[key] = len(self.known)
            self.known.append(what)
        return self.numbers[key]


class Asked:
    """What the collective asks of a plan, block by block: `owner` is the rank in whose piece of the vector a block begins. In an
    all_to_all blocks go round: they are for the rank so much further on, and of the one as much before."""

    def __init__(self, plan):
        self.verb, self.ranks = plan["collective"], plan["ranks"]
        self.shape = shape(self.verb)
        # The plan of a barrier, which is about no elements, tells every rank of all others, as an allreduce does.
        verb = "allreduce" if self.shape.meets else self.verb
        self.by_rank = definition(verb, [1] * self.ranks, plan["root"] or 0)

    def required(self, owner, rank):
        """The contributors that it demands of (rank, block), or None where nothing is kept."""
        at = (rank - owner) % self.ranks if self.shape.swaps else owner
        for first, count, begin, end, _ in self.by_rank[rank].parts:
            if first <= at < first + count:
                return frozenset(range(begin, end))
        return None

    def has_input(self, owner, rank):
        """Whether slot 0 of a block exists on a rank."""
        at = (rank + owner) % self.ranks if self.shape.swaps else owner
        first, count = self.by_rank[rank].gives
        return first <= at < first + count

    def bound(self):
        others = Fraction(self.ranks - 1, self.ranks)
        if self.shape.meets:
            return Fraction(0)
        if self.shape.pieces:
            return others
        folds_for_all = all(one.parts == [[0, self.ranks, 0, self.ranks, 0]] for one in self.by_rank)
        return 2 * others if folds_for_all else Fraction(int(self.ranks > 1))


def check(plan):
    demand([key for key in plan if key != "idempotent_only"] == KEYS, f"the keys are {list(plan)}")
    demand(plan.get("idempotent_only", True) is True, "idempotent_only is there where it is true")
    demand(plan["coset_plan"] == 1, "not version 1")
    ranks, verb, asked = plan["ranks"], plan["collective"], Asked(plan)
    demand((plan["root"] is not None) == asked.shape.rooted, f"{verb} with root {plan['root']}")
    sizes = [fraction(b["size"]) for b in plan["blocks"]]
    offsets = [fraction(b["offset"]) for b in plan["blocks"]]
    demand(offsets == [sum(sizes[:b], Fraction(0)) for b in range(len(sizes))] and sum(sizes) == 1,
           "the blocks do not tile the vector")
    owners = [int(offset * ranks) for offset in offsets]
    for block, owner in enumerate(owners):
        demand(not asked.shape.pieces or offsets[block] + sizes[block] <= Fraction(owner + 1, ranks),
               f"block {block} spans the pieces of two ranks")

    values, held = Values(), {}
    for rank in range(ranks):
        for block in range(len(sizes)):
            if asked.has_input(owners[block], rank):
                held[rank, block, 0] = values.leaf(rank)
    figures = execute(plan, values, held, sizes)

    results = {}
    ordered = True
    demand(len(plan["result"]) == ranks and all(len(row) == len(sizes) for row in plan["result"]), "result has another shape")
    for rank, row in enumerate(plan["result"]):
        for block, slot in enumerate(row):
            wanted = asked.required(owners[block], rank)
            where = f"block {block} on rank {rank}"
            if wanted is None:
                demand(slot is None, f"{where} keeps a result that {verb} does not have")
                continue
            demand((rank, block, slot) in held, f"{where} ends with slot {slot}, which holds nothing")
            got = values.known[held[rank, block, slot]]
            demand(got[0] == wanted, f"{where} ends with {sorted(got[0])}, not {sorted(wanted)}")
            demand(got[4] or "idempotent_only" in plan, f"{where} counts a rank twice")
            ordered = ordered and got[3]
            results.setdefault((block, wanted), set()).add(held[rank, block, slot])
    figures["rank_uniform"] = verb == "barrier" or all(  # a barrier has no bits
        len(bracketings) == 1 for bracketings in results.values())
    figures["ordered"] = ordered
    figures["volume_bound"] = asked.bound()
    found = {k: fraction(v) if isinstance(v, str) else v for k, v in plan["properties"].items()}
    demand(found == figures, f"the properties are {found}, the steps say {figures}")


def execute(plan, values, held, sizes):
    """Runs all steps on `held`; returns the figures that only depend on who reads what."""
    ranks = plan["ranks"]
    sent, received, combined = [Fraction(0)] * ranks, [Fraction(0)] * ranks, [Fraction(0)] * ranks
    steps = fan_in = 0
    for number, step in enumerate(plan["steps"]):
        before, reads = dict(held), set()
        for a in step:
            rank, block, where = a["rank"], a["block"], f"step {number}: {a}"
            demand(a["from"] and (rank, block, a["slot"]) not in held and a["slot"] > 0, f"{where} writes a slot twice, or from nothing")
            folded = None
            for source, slot in a["from"]:
                state = held if source == rank else before
                demand((source, block, slot) in state, f"{where} reads slot {slot} of rank {source} before it exists")
                value = state[source, block, slot]
                folded = value if folded is None else values.join(folded, value)
                if source != rank:
                    reads.add((rank, source, slot, block))
            held[rank, block, a["slot"]] = folded
            combined[rank] += (len(a["from"]) - 1) * sizes[block]
        for rank, source, _, block in reads:
            received[rank] += sizes[block]
            sent[source] += sizes[block]
        peers = Counter(rank for rank, _ in {(rank, source) for rank, source, _, _ in reads})
        fan_in = max([fan_in, *peers.values()])
        steps += bool(reads)
    return {"steps": steps, "sent_max": max(sent), "received_max": max(received), "combined_max": max(combined), "fan_in": fan_in}


if __name__ == "__main__":
    try:
        with open(sys.argv[1]) if len(sys.argv) > 1 else sys.stdin as text:
            check(json.load(text))
    except Wrong as reason:
        sys.exit(f"wrong plan: {reason}")
