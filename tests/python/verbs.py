# SPDX-License-Identifier: Apache-2.0
"""Every verb of a member by its parameters and by the definition of verbs (tests/support): arrays for any call of it, and what
they must hold afterwards. There is no list to add a verb to."""
import pathlib
import re
import sys

from support import coset

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from definitions import counts_of, definition, shape, shapes  # noqa: E402

NAMES = [name for name, one in shapes().items() if not one.shares]  # no rank has such a result in an array of its own


def parameters(function):
    """Name to whether it has a default, in their order, as the function's own words say."""
    words = getattr(coset.Member, function).__doc__.splitlines()[0]
    given = re.findall(r"(\w+): [\w.]+( = [^,)]+)?", words)
    return {name: bool(default) for name, default in given if name != "self"}


class Call:
    """A verb on arrays of doubles. The root is `root`, or the last rank if there are less. Rank r gives value(r, i) at i;
    `length` is that of pieces, or of the whole where there are none."""

    def __init__(self, verb, in_place=False, length=2, root=1, value=lambda r, i: r + 1.0 + 10 * i):
        self.verb, self.in_place, self.length, self.root, self.value = verb, in_place, length, root, value
        self.takes, self.shape = parameters(verb), shape(verb)
        self.only_root_passes = self.shape.gives_pieces and self.shape.rooted  # an output

    def __str__(self):
        return self.verb + (" in place" if self.in_place else "")

    def root_of(self, ranks):
        return min(self.root, ranks - 1)

    def said(self, ranks):
        return definition(self.verb, counts_of(self.verb, ranks, self.length), self.root_of(ranks), self.in_place)

    def x(self, rank, ranks):
        """None where a rank gives nothing, and passes no array."""
        of = self.said(ranks)[rank]
        if self.shape.meets or of.in_length == 0:
            return None
        x = [0.0] * of.in_length
        for i in range(of.gives[1]):
            x[of.in_at[0] + i] = self.value(rank, of.gives[0] + i)
        return x

    def out_length(self, rank, ranks):
        """None where the rank passes no output: in place, or the root alone does."""
        if self.in_place or "out" not in self.takes or self.only_root_passes and rank != self.root_of(ranks):
            return None
        return self.said(ranks)[rank].out_length or self.said(ranks)[self.root_of(ranks)].out_length

    def expected(self, rank, ranks):
        """What is in the array that it writes to; None where nobody says."""
        of = self.said(ranks)[rank]
        if not of.parts or self.shape.meets:
            return None
        return [sum(self.value(q, source + i) for q in range(begin, end))
                for _, count, begin, end, source in of.parts for i in range(count)]

    def arguments(self, rank, ranks, target):
        """By name. `target` is x, in place, or the output, if the rank passes one."""
        given = {"x": target if self.in_place else self.x(rank, ranks), "root": self.root_of(ranks)}
        if self.out_length(rank, ranks) is not None:
            given["out"] = target
        return {name: given[name] for name in self.takes if name in given}

    def __call__(self, me, target, starts=False):
        return getattr(me, ("start_" if starts else "") + self.verb)(**self.arguments(me.rank, me.size, target))

    def target(self, rank, ranks):
        """What it may write to, before the call."""
        length = self.out_length(rank, ranks)
        return self.x(rank, ranks) or [] if length is None else [0.0] * length


def calls_of(verb, **how):
    """With an output, if it takes one, and in place, if it can be."""
    takes, of = parameters(verb), shape(verb)
    if "out" in takes or of.meets:
        yield Call(verb, **how)
    if "x" in takes and takes.get("out", True) and not of.gives_pieces:
        yield Call(verb, in_place=True, **how)


def calls(**how):
    return [call for verb in NAMES for call in calls_of(verb, **how)]
