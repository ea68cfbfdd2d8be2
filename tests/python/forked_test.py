#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A forked child with its parent's teams, members and requests: refused in words, destroyed in silence.

usage: forked_test.py FOLDER"""
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import unittest

from support import coset, folder, team

import numpy as np


def refused(call):
    try:
        call()
    except coset.ArgumentError as words:
        return "forked child" in str(words)
    return False


def status_of(act):
    """Of a child that does this, which returns its status."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        status = 9
        try:
            status = act()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def works(ranks):
    return ranks.run(lambda me: me.allreduce(me.rank)) == [1, 1]


class Forked(unittest.TestCase):
    def setUp(self):
        self.ranks = team(2)
        self.assertTrue(works(self.ranks))

    def tearDown(self):
        self.assertTrue(works(self.ranks))

    def test_teams_are_refused(self):
        arrays = [np.ones(10), np.ones(10)]
        self.assertEqual(status_of(lambda: 3 if refused(lambda: works(self.ranks)) else 4), 3)
        self.assertEqual(status_of(lambda: 3 if refused(lambda: self.ranks.allreduce(arrays)) else 4), 3)

    def test_teams_are_destroyed_and_made(self):
        def act():
            del self.ranks
            gc.collect()
            return 3 if works(team(2)) else 4
        self.assertEqual(status_of(act), 3)
        self.assertTrue(works(self.ranks))

    def test_multiprocessing(self):
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map(sum_in_a_team_of_its_own, range(4)), [True] * 4)

    def test_in_a_body(self):
        for rank in range(2):
            def body(me):
                x = np.ones(10)
                request = me.start_allreduce(x)

                def act():
                    return 3 if refused(me.barrier) and refused(request.test) and refused(request.wait) else 4
                if me.rank == rank:
                    self.assertEqual(status_of(act), 3)
                request.wait()
                return x[9]
            self.assertEqual(self.ranks.run(body), [2, 2])

    def test_a_child_ends_as_interpreters_do(self):
        program = ("import os, sys; sys.path.insert(0, sys.argv[1]); import coset\n"
                   "ranks = coset.Team(2, placement='unbound')\n"
                   "ranks.run(lambda me: me.barrier())\n"
                   "child = os.fork()\n"
                   "if child == 0: sys.exit(5)\n"
                   "status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])\n"
                   "ranks.run(lambda me: me.barrier())\n"
                   "sys.exit(status)\n")
        self.assertEqual(subprocess.run([sys.executable, "-c", program, folder], timeout=60).returncode, 5)


def sum_in_a_team_of_its_own(_):
    return works(team(2))


if __name__ == "__main__":
    unittest.main()
