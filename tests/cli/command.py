# SPDX-License-Identifier: Apache-2.0
"""The command under test, and what tests of several subcommands share. The first argument of each is the command."""
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from definitions import shapes  # noqa: E402

COSET = sys.argv.pop(1)
SMALL, LONG = (os.environ.get("COSET_TEST_EFFORT") == effort for effort in ("small", "long"))
VERBS = [name for name, verb in shapes().items() if not verb.shares]  # whose results are in an array of each rank
TREE = {"tree": {"top": ["left", "right", 5], "left": [0, 3], "right": [1, 2, 4]}}


def coset(*arguments):
    return subprocess.run([COSET, *map(str, arguments)], capture_output=True, text=True, timeout=300)


needs_lab = unittest.skipUnless(coset("cost", "--help").returncode == 0, "the lab is not in this build")


def some(*lists, each):
    """What the lists have to say of one another: under small effort one of `each`, which shares no factor with how long the
    lists are, so that all that they have still meets."""
    return list(itertools.product(*lists))[:: each if SMALL else 1]


def halves(ranks):
    return (ranks + 1) // 2, ranks // 2


def needed(name, ranks):
    """Arguments for the algorithms that have no defaults."""
    dims = f"{ranks // 2}x2" if ranks % 2 == 0 else f"{ranks}"
    nodes = "+".join(str(n) for n in halves(ranks) if n)
    lists = {"product": f"dims={dims}", "blueconnect": f"dims={dims}", "tower": f"factors={dims}", "fold": "shifts=ring"}
    for by_node in ("leaders", "smp_rdb", "smp_binomial", "unequal", "two_level", "two_level_scan", "flexreduce",
                    "tree_ring"):
        lists[by_node] = f"nodes={nodes}"
    if name == "adapted_dissemination":
        return f"{name}(n=4)"
    return f"{name}({lists[name]})" if name in lists else name


class Files(unittest.TestCase):
    """Tests that write files of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, content, name="tree"):
        path = os.path.join(self.folder, name + ".json")
        with open(path, "w") as out:
            json.dump(content, out)
        return path


def listed():
    """The names in the table: its first column, down to the legend; without `plan`, which is what its file is."""
    names = []
    for line in coset("list").stdout.splitlines()[1:]:
        if line[0].isupper():
            break
        names.append(line.split()[0])
    names.remove("plan")
    return names
