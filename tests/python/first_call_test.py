#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each function of the module as the first of its process, by two ranks at once, where nobody has imported numpy.

What such a call does for the first time, both do at once: import a module, look something up. A process that has not ended
after a minute hangs."""
import concurrent.futures
import subprocess
import sys
import unittest

from support import coset, folder

# What each rank returns, and what all of them do.
FIRST = {
    "allreduce": ("me.allreduce(1.5)", [3.0, 3.0]),
    "scan": ("me.scan(me.rank + 1)", [1, 3]),
    "exclusive_scan": ("me.exclusive_scan(5) if me.rank else me.exclusive_scan(5) and 0", [0, 5]),
    "reduce": ("me.reduce(2.0, op='multiplies') if me.rank == 0 else me.reduce(2.0, op='multiplies') and 0", [4.0, 0]),
    "broadcast": ("me.broadcast(me.rank + 7)", [7, 7]),
    "allgather": ("me.allgather([me.rank], out=array('q', [0, 0])).tolist()", [[0, 1], [0, 1]]),
    "gather": ("me.gather(me.rank) is None", [False, True]),
    "scatter": ("me.scatter([1.0, 2.0], array('d', [0])).tolist()", [[1.0], [2.0]]),
    "all_to_all": ("me.all_to_all(array('i', [me.rank, 2])).tolist()", [[0, 1], [2, 2]]),
    "reduce_scatter": ("me.reduce_scatter([1, 2], array('q', [0])).tolist()", [[2], [4]]),
    "start_allreduce": ("me.start_allreduce(array('d', [1])).wait()", [None, None]),
    "start_scan": ("me.start_scan(array('d', [1])).wait()", [None, None]),
    "start_exclusive_scan": ("me.start_exclusive_scan(array('d', [1])).wait()", [None, None]),
    "start_reduce": ("me.start_reduce(array('d', [1])).wait()", [None, None]),
    "start_broadcast": ("me.start_broadcast(array('d', [1])).wait()", [None, None]),
    "start_allgather": ("me.start_allgather(1, array('q', [0, 0])).wait()", [None, None]),
    "start_gather": ("me.start_gather(1, out=array('q', [0, 0])).wait()", [None, None]),
    "start_scatter": ("me.start_scatter([1, 2], array('q', [0])).wait()", [None, None]),
    "start_all_to_all": ("me.start_all_to_all(array('d', [1, 2])).wait()", [None, None]),
    "start_reduce_scatter": ("me.start_reduce_scatter([1, 2], array('q', [0])).wait()", [None, None]),
    "start_barrier": ("me.start_barrier().wait()", [None, None]),
    "barrier": ("me.barrier()", [None, None]),
    "rank": ("me.rank", [0, 1]),
    "size": ("me.size", [2, 2]),
}
OTHER = {
    "memoryview": ("me.allreduce(memoryview(bytearray(b'ab'))).tolist()", [[2 * 97, 2 * 98]] * 2),
    "refused": ("refused(lambda: me.allreduce([1.0]))", ["ArgumentError"] * 2),
    "raised": ("refused(lambda: me.allreduce(1.0, op='sum'))", ["ArgumentError"] * 2),
    "properties": ("str(coset.Schedule('ring', 7).properties['received_max'])", ["12/7"] * 2),
    "reads": ("len(coset.Schedule('ring', 3).reads()['step']) > 0", [True] * 2),
    "result": ("coset.Schedule('direct', 2).result.shape[0]", [2, 2]),
    "cost": ("coset.Schedule('ring', 4).cost(8) > 0", [True] * 2),
    "compare": ("len(coset.compare(8, 8)) > 1", [True] * 2),
    "algorithms": ("len(coset.algorithms()) > 1", [True] * 2),
}

PROGRAM = """
import sys
from array import array
sys.path.insert(0, {folder!r})
assert "numpy" not in sys.modules
import coset
def refused(call):
    try:
        call()
    except coset.Error as error:
        return type(error).__name__
print(coset.Team(2, "unbound").run(lambda me: {call}) == {expected!r})
"""


def outcome(call, expected):
    program = PROGRAM.format(folder=folder, call=call, expected=expected)
    try:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "hangs"
    return (done.stdout + done.stderr).strip()


class FirstCalls(unittest.TestCase):
    def test_all_verbs_are_here(self):
        self.assertEqual(set(FIRST), {name for name in dir(coset.Member) if not name.startswith("_")})

    def test_each_ends_with_its_result(self):
        calls = {**FIRST, **OTHER}
        with concurrent.futures.ThreadPoolExecutor(3) as at_once:
            outcomes = dict(zip(calls, at_once.map(lambda one: outcome(*one), calls.values())))
        self.assertEqual(outcomes, dict.fromkeys(calls, "True"))


if __name__ == "__main__":
    unittest.main()
