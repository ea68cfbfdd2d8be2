#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The interpreter's end, wherever a run() is then: the process ends as it would without one.

Each case is a process of its own, which ends while the others' runs go on. At which point the end meets them is chance, so
each is repeated."""
import os
import subprocess
import sys
import unittest

from support import folder

RUNS = 20 if os.environ.get("COSET_TEST_EFFORT") == "long" else 1

PRELUDE = """
import atexit, sys, threading, time
sys.path.insert(0, sys.argv[1])
import coset, numpy as np
begun = threading.Semaphore(0)
def endless(step):
    def body(me):
        step(me)
        begun.release()
        while True: step(me)
    return body
def in_background(call, ranks=2):
    threading.Thread(target=call, daemon=True).start()
    for _ in range(ranks): begun.acquire()
def reduce(me): me.allreduce(1.0)
"""

CASES = {
    "a team of a thread that does not end":
        "in_background(lambda: coset.Team(2, 'unbound').run(endless(reduce)))",
    "a team of the main thread":
        "ranks = coset.Team(2, 'unbound')\nin_background(lambda: ranks.run(endless(reduce)))",
    "several teams":
        "for _ in range(3): in_background(lambda: coset.Team(2, 'unbound').run(endless(reduce)))",
    "bodies that compute":
        "in_background(lambda: coset.Team(3, 'unbound').run(endless(lambda me: sum(range(100)))), 3)",
    "bodies that sleep":
        "in_background(lambda: coset.Team(2, 'unbound').run(endless(lambda me: time.sleep(0.0005))))",
    "a rank that never comes":
        "def body(me):\n"
        "    begun.release()\n"
        "    time.sleep(3600) if me.rank == 1 else me.allreduce(1.0)\n"
        "in_background(lambda: coset.Team(2, 'unbound').run(body))",
    "arrays and requests":
        "in_background(lambda: coset.Team(2, 'unbound').run(endless(lambda me: me.start_allreduce(np.ones(10)).wait())))\n"
        "in_background(lambda: coset.Team(2, 'unbound').run(endless(lambda me: me.allreduce(np.ones(10**5)))))",
    "reductions without bodies":
        "ranks = coset.Team(2, 'unbound')\n"
        "def loop():\n"
        "    while True:\n"
        "        ranks.allreduce([np.ones(100), np.ones(100)])\n"
        "        begun.release()\n"
        "in_background(loop)",
    "new runs, again and again":
        "def loop():\n"
        "    ranks = coset.Team(2, 'unbound')\n"
        "    while True:\n"
        "        ranks.run(reduce)\n"
        "        begun.release()\n"
        "in_background(loop)",
    "a thread that is waited for":
        "def finite():\n"
        "    ranks = coset.Team(2, 'unbound')\n"
        "    for _ in range(100): assert ranks.run(lambda me: me.allreduce(1)) == [2, 2]\n"
        "threading.Thread(target=finite).start()",
    "teams that the end destroys, and runs in it":
        "ranks = coset.Team(2, 'unbound')\n"
        "class Late:\n"
        "    def __del__(self):\n"
        "        print('alone', self.alone.run(self.body))\n"
        "        x = [self.ones(1), self.ones(1)]\n"
        "        self.ranks.allreduce(x)\n"
        "        print('without bodies', x[1][0])\n"
        "        try: print(self.ranks.run(self.body))\n"
        "        except self.error as e: print(e)\n"
        "late = Late()\n"
        "late.alone, late.ranks, late.body = coset.Team(1, 'unbound'), coset.Team(2, 'unbound'), lambda me: me.allreduce(1)\n"
        "late.ones, late.error = np.ones, coset.Error\n"
        "atexit.register(lambda: print('atexit', ranks.run(lambda me: me.allreduce(1))))",
}

LATE = """atexit [2, 2]
alone [1]
without bodies 2.0
Team.run: the interpreter is ending, and other ranks' bodies cannot begin
"""


class Ends(unittest.TestCase):
    def test_the_process_ends_as_without_a_run(self):
        for name, case in CASES.items():
            for _ in range(RUNS):
                with self.subTest(name):
                    ended = subprocess.run([sys.executable, "-c", f"{PRELUDE}{case}\nprint('end')", folder],
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
                    self.assertEqual((ended.returncode, ended.stderr), (0, ""))
                    late = LATE if "Late" in case else ""
                    self.assertEqual(ended.stdout, "end\n" + late)


if __name__ == "__main__":
    unittest.main()
