#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Signals while ranks wait: handlers run, what they raise ends the run, and the team is usable afterwards.

Whatever these tests find missing makes a rank wait for ever, so ctest limits their time. Nobody sleeps: a signal that is sent a
moment before its thread waits has the same consequences."""
import os
import signal
import subprocess
import sys
import threading
import unittest

import numpy as np

from support import coset, folder, team


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def wait_for_second(requests):
    return lambda: requests[1].wait()


class Handler:
    """Handles a signal otherwise for a while."""

    def __init__(self, number, handle):
        self.number, self.handle = number, handle

    def __enter__(self):
        self.before = signal.signal(self.number, self.handle)

    def __exit__(self, *_):
        signal.signal(self.number, self.before)


class InVerbs(unittest.TestCase):
    # What is to be called to wait. Requests are there before: a signal between two starts ends the first for want of the second.
    WAITS = {
        "barrier": lambda me: me.barrier,
        "allreduce": lambda me: lambda: me.allreduce(1.0),
        "long allreduce": lambda me: lambda: me.allreduce(np.ones(10**6)),
        "gather": lambda me: lambda: me.gather(1.0),
        "request": lambda me: me.start_allreduce(np.ones(10)).wait,
        "one of two requests": lambda me: wait_for_second([me.start_allreduce(np.ones(10)) for _ in range(2)]),
    }

    def assert_usable(self, ranks):
        self.assertEqual(ranks.run(lambda me: me.allreduce(1)), [ranks.size] * ranks.size)

    def test_a_wait_is_interrupted_and_others_hear_of_it(self):
        ranks = team(3)
        for name, waiting in self.WAITS.items():
            with self.subTest(name):
                arrives, interrupted, heard = threading.Event(), threading.Event(), []

                def body(me):
                    try:
                        if me.rank == 1:
                            arrives.wait()
                            interrupt()
                            interrupted.wait()
                        wait = waiting(me)
                        if me.rank == 0:
                            arrives.set()
                        wait()
                        me.barrier()  # where those wait whom the verb did not make wait
                    except KeyboardInterrupt:
                        interrupted.set()
                        raise
                    except coset.Aborted as error:
                        heard.append((me.rank, str(error)))
                        raise
                with self.assertRaises(KeyboardInterrupt):
                    ranks.run(body)
                self.assert_usable(ranks)  # waits for bodies that took long to end
                self.assertEqual(sorted(rank for rank, _ in heard), [1, 2])
                for _, words in heard:
                    self.assertIn("KeyboardInterrupt", words)

    def test_a_signal_beside_another_error_is_not_lost(self):
        for _ in range(20):
            arrives, ranks = threading.Event(), team(2)

            def body(me):
                if me.rank == 0:
                    arrives.set()
                    me.barrier()
                arrives.wait()
                interrupt()
                me.allreduce(1)  # a mismatch
            with self.assertRaises(KeyboardInterrupt):
                try:
                    ranks.run(body)
                except coset.Error:  # the signal is late
                    threading.Event().wait()
            self.assert_usable(ranks)

    def test_a_body_that_catches_it_goes_on(self):
        """The team has failed, but run() waits for all bodies."""
        arrives, interrupted = threading.Event(), threading.Event()
        ended = []

        def body(me):
            if me.rank == 1:
                arrives.wait()
                interrupt()
                interrupted.wait()
                ended.append(True)
                return
            arrives.set()
            with self.assertRaises(KeyboardInterrupt):
                me.barrier()
            with self.assertRaises(coset.Aborted):
                me.barrier()
            interrupted.set()
        ranks = team(2)
        self.assertEqual(ranks.run(body), [None, None])
        self.assertEqual(ended, [True])
        self.assert_usable(ranks)

    def test_handlers_run_in_the_middle_of_a_wait(self):
        """Rank 0 waits until rank 1 has seen the handler's work."""
        handled = threading.Event()

        def body(me):
            if me.rank == 1:
                os.kill(os.getpid(), signal.SIGUSR1)
                handled.wait()
            me.barrier()
        with Handler(signal.SIGUSR1, lambda *_: handled.set()):
            team(2).run(body)

    def test_handlers_cannot_use_the_member_that_waits(self):
        arrives, handled, members, words = threading.Event(), threading.Semaphore(0), [], []

        def handle(*_):
            try:
                members[0].rank  # which one may ask between two verbs
            except coset.ArgumentError as error:
                words.append(str(error))
            self.assertEqual(team(2).run(lambda me: me.allreduce(1)), [2, 2])  # another team
            handled.release()

        def body(me):
            if me.rank == 1:
                arrives.wait()
                while not words:
                    os.kill(os.getpid(), signal.SIGUSR1)
                    handled.acquire()
            else:
                members.append(me)
                arrives.set()
            me.barrier()
        with Handler(signal.SIGUSR1, handle):
            team(2).run(body)
        self.assertIn("in the middle of a verb", words[0])

    def test_an_inner_team_is_interrupted_with_the_outer_one(self):
        arrives, inner = threading.Event(), team(2)
        interrupted = threading.Event()

        def body(me):
            if me.rank == 1:
                arrives.wait()
                interrupt()
                interrupted.wait()
                me.barrier()

            def inner_body(one):
                try:
                    interrupted.wait() if one.rank == 1 else arrives.set()
                    one.barrier()
                except KeyboardInterrupt:
                    interrupted.set()
                    raise
            inner.run(inner_body)
        outer = team(2)
        with self.assertRaises(KeyboardInterrupt):
            outer.run(body)
        self.assert_usable(inner)
        self.assert_usable(outer)


class InRun(unittest.TestCase):
    def left_behind(self, ranks, first, until):
        """A run whose rank 1 does not end before `until`; rank 0 does `first`."""
        arrives = threading.Event()

        def body(me):
            if me.rank == 1:
                arrives.wait()
                interrupt()
                until.wait()
                return me.rank
            arrives.set()
            first(me)
        with self.assertRaises(KeyboardInterrupt):
            ranks.run(body)

    def test_bodies_that_cannot_be_interrupted_are_left_behind(self):
        for first in (lambda me: None, lambda me: me.barrier(), lambda me: threading.Event().wait()):
            ranks, until = team(2), threading.Event()
            self.left_behind(ranks, first, until)
            until.set()
            self.assertEqual(ranks.run(lambda me: me.allreduce(1)), [2, 2])

    def test_the_next_run_waits_for_them_and_can_be_interrupted(self):
        ranks, until = team(2), threading.Event()
        self.left_behind(ranks, lambda me: None, until)

        def raise_it(*_):
            raise TimeoutError
        with Handler(signal.SIGALRM, raise_it):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with self.assertRaises(TimeoutError):
                ranks.run(lambda me: me.barrier())
        until.set()
        ranks.allreduce([np.ones(2), np.ones(2)])

    def test_a_team_may_end_before_they_do(self):
        until = threading.Event()
        self.left_behind(team(2), lambda me: None, until)
        until.set()

    @unittest.skipUnless(os.environ.get("COSET_TEST_EFFORT") == "long", "takes ten seconds")
    def test_a_body_that_does_not_end_is_named(self):
        ranks, until = team(3), threading.Event()
        self.left_behind(ranks, lambda me: None, until)
        with self.assertRaisesRegex(coset.ArgumentError, "interrupted, whose body of rank 1 has not ended"):
            ranks.run(lambda me: me.barrier())
        until.set()
        self.assertEqual(ranks.run(lambda me: me.allreduce(1)), [3, 3, 3])

    def test_other_threads_runs_are_not_interrupted(self):
        waits, goes_on, results = threading.Event(), threading.Event(), []

        def body(me):
            if me.rank == 1:
                waits.set()
                goes_on.wait()
            return me.allreduce(1)
        other = threading.Thread(target=lambda: results.append(team(2).run(body)))
        other.start()
        with self.assertRaises(KeyboardInterrupt):
            waits.wait()
            interrupt()
            threading.Event().wait()
        goes_on.set()
        other.join()
        self.assertEqual(results, [[2, 2]])

    def test_a_program_ends_by_ctrl_c(self):
        """Although rank 1's body never does."""
        program = subprocess.Popen(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {folder!r})\nimport coset, threading\n"
             "t = coset.Team(2, 'unbound')\n"
             "def body(me):\n"
             "    if me.rank == 0:\n        print('here', flush=True)\n        me.barrier()\n"
             "    threading.Event().wait()\n"
             "t.run(body)"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(program.stdout.readline(), "here\n")
        program.send_signal(signal.SIGINT)
        try:
            _, errors = program.communicate(timeout=60)
        finally:
            program.kill()
        self.assertIn("KeyboardInterrupt", errors)
        self.assertEqual(program.returncode, -signal.SIGINT)


if __name__ == "__main__":
    unittest.main()
