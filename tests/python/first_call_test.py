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
from verbs import calls

def first(call, function):
    """What the ranks do with arrays of their own, and what each of these has to be afterwards; None where nobody says."""
    arguments = [call.arguments(rank, 2, call.target(rank, 2)) for rank in range(2)]
    return (f"written(me, {function!r}, {arguments!r}[me.rank], {[call.expected(rank, 2) for rank in range(2)]!r}[me.rank])",
            [True, True])


FIRST = {start + call.verb: first(call, start + call.verb) for call in calls() for start in ("", "start_")}
OTHER = {
    "number": ("me.allreduce(1.5)", [3.0, 3.0]),
    "number of the root": ("me.broadcast(me.rank + 7)", [7, 7]),
    "operation": ("me.reduce(2.0, op='multiplies') if me.rank == 0 else me.reduce(2.0, op='multiplies') and 0", [4.0, 0]),
    "list": ("me.allgather([me.rank], out=array('q', [0, 0])).tolist()", [[0, 1], [0, 1]]),
    "output that is made": ("me.gather(me.rank) is None", [False, True]),
    "integers": ("me.all_to_all(array('i', [me.rank, 2])).tolist()", [[0, 1], [2, 2]]),
    "rank": ("me.rank", [0, 1]),
    "size": ("me.size", [2, 2]),
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
def written(me, function, arguments, expected):
    # Of lists arrays are made; what is started is waited for.
    given = {{name: array("d", value) if isinstance(value, list) else value for name, value in arguments.items()}}
    result = getattr(me, function)(**given)
    if function.startswith("start_"):
        result.wait()
    return expected is None or list(given.get("out", given["x"])) == expected
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
        self.assertEqual(FIRST.keys() | {"rank", "size"}, {name for name in dir(coset.Member) if not name.startswith("_")})

    def test_each_ends_with_its_result(self):
        calls = {**FIRST, **OTHER}
        with concurrent.futures.ThreadPoolExecutor(3) as at_once:
            outcomes = dict(zip(calls, at_once.map(lambda one: outcome(*one), calls.values())))
        self.assertEqual(outcomes, dict.fromkeys(calls, "True"))


if __name__ == "__main__":
    unittest.main()
