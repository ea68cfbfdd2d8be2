# SPDX-License-Identifier: Apache-2.0
"""What verbs are by definition: the tests' oracle (oracle.hpp), asked by way of its program coset_definitions. How that is
started is in the environment, where ctest puts it."""
import functools
import json
import os
import shlex
import subprocess
import types


@functools.lru_cache(maxsize=None)
def said(*arguments):
    program = shlex.split(os.environ["COSET_TEST_DEFINITIONS"])
    told = subprocess.run([*program, *map(str, arguments)], capture_output=True, text=True, check=True).stdout
    return json.loads(told, object_hook=lambda fields: types.SimpleNamespace(**fields))


def shapes():
    """By name: rooted, from_root (which alone gives), pieces (of which its vector is made), gives_pieces, gets_pieces, swaps
    (a piece for each), folds (rather than moves), meets (and no more), shares (one result)."""
    return vars(said())


def shape(verb):
    return shapes()[verb]


def definition(verb, counts, root=0, in_place=False):
    """By rank: whether it names one array for input and output, their lengths, where in its array the input is (in_at), what of
    the vector it gives and gets, each [first, count]; its parts, each [first, count, begin, end, from], which is the fold of
    what ranks begin ... end - 1 give from `from` on; and whether it keeps its input."""
    return said(verb, root, int(in_place), *counts)


def counts_of(verb, ranks, length):
    """Equal pieces of a length; without pieces that of the whole."""
    return [length] * ranks if shape(verb).pieces else [length] + [0] * (ranks - 1)
