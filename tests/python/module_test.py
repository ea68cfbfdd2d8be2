#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python module: verbs over numpy's arrays, errors on all ranks, schedules as data.

usage: module_test.py FOLDER, where the module lies, as all tests here. Exit status 77 without numpy."""
import fractions
import gc
import json
import os
import threading
import unittest

from support import coset, team

import numpy as np


class Verbs(unittest.TestCase):
    def test_every_dtype_is_reduced(self):
        for dtype in "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split():
            for ranks in (1, 2, 3):
                def body(me):
                    x = (np.arange(100) % 10).astype(dtype)
                    x += np.array(me.rank).astype(dtype)
                    self.assertIs(me.allreduce(x), x)
                    return x
                expected = (np.arange(100) % 10 * ranks + ranks * (ranks - 1) // 2).astype(dtype)
                for got in team(ranks).run(body):
                    np.testing.assert_array_equal(got, expected)

    def test_idle_teams_end_when_asked(self):
        before = len(os.listdir("/proc/self/task"))
        coset.Team(3, placement="unbound").run(lambda me: me.rank)
        coset.end_idle_teams()
        self.assertLessEqual(len(os.listdir("/proc/self/task")), before + 1)  # one may be on its way out
        self.assertEqual(coset.Team(2).run(lambda me: me.rank), [0, 1])

    def test_every_verb(self):
        def body(me):
            rank, size = me.rank, me.size
            x = np.full((2, 3), rank + 1.0)
            out = np.empty_like(x)
            me.allreduce(x, op="maximum", out=out)
            np.testing.assert_array_equal(out, np.full((2, 3), size))
            self.assertEqual(me.allreduce(rank), size * (size - 1) // 2)
            self.assertEqual(me.allreduce(0.5, op="multiplies"), 0.5 ** size)
            total = me.reduce(np.full(5, 1), root=1)
            if rank == 1:
                np.testing.assert_array_equal(total, np.full(5, size))
            np.testing.assert_array_equal(me.broadcast(np.full(4, rank), root=2), np.full(4, 2))
            everyone = np.empty(2 * size, dtype=np.int64)
            me.allgather(np.array([rank, -rank]), out=everyone)
            np.testing.assert_array_equal(everyone[::2], np.arange(size))
            piece = np.empty(3)
            me.reduce_scatter(np.arange(3.0 * size), out=piece)
            np.testing.assert_array_equal(piece, size * (np.arange(3.0) + 3 * rank))
            np.testing.assert_array_equal(me.scan(np.ones(3)), np.full(3, rank + 1.0))
            before = me.exclusive_scan(np.ones(3))
            if rank > 0:
                np.testing.assert_array_equal(before, np.full(3, float(rank)))
            me.barrier()
            y = np.ones(1000)
            request = me.start_allreduce(y)
            while not request.test():
                pass
            np.testing.assert_array_equal(y, np.full(1000, size))
            me.start_allreduce(y, op="minimum").wait()
            return rank
        self.assertEqual(team(3).run(body), [0, 1, 2])

    def test_pieces_travel_between_ranks(self):
        for ranks in (1, 2, 3, 5):
            for root in range(ranks):
                def body(me):
                    rank, size = me.rank, me.size
                    rows = me.gather(np.full((2, 3), rank, dtype=np.float32), root)
                    flat = np.full(4 * size, -1)
                    given = me.gather(np.full(4, rank), root, out=flat)
                    numbers = me.gather(rank, root)
                    if rank == root:
                        self.assertEqual((rows.shape, rows.dtype), ((size, 2, 3), np.float32))
                        np.testing.assert_array_equal(rows[:, 1, 2], np.arange(size))
                        self.assertIs(given, flat)
                        np.testing.assert_array_equal(flat, np.repeat(np.arange(size), 4))
                        np.testing.assert_array_equal(numbers, np.arange(size))
                    else:
                        self.assertEqual((rows, given, numbers), (None, None, None))
                        np.testing.assert_array_equal(flat, np.full(4 * size, -1))
                    mine = np.empty(3)
                    whole = np.arange(3.0 * size) if rank == root else None
                    self.assertIs(me.scatter(whole, mine, root), mine)
                    np.testing.assert_array_equal(mine, 3.0 * rank + np.arange(3))
                    x = 10 * rank + np.arange(size)
                    out = np.empty_like(x)
                    me.all_to_all(x, out=out)
                    np.testing.assert_array_equal(out, 10 * np.arange(size) + rank)
                    self.assertIs(me.all_to_all(x), x)
                    np.testing.assert_array_equal(x, out)
                team(ranks).run(body)

    def test_one_thread_of_python_gives_all_arrays(self):
        ranks = team(4)
        arrays = [np.full(100_000, r, dtype=np.float32) for r in range(4)]
        ranks.allreduce(arrays)
        for each in arrays:
            np.testing.assert_array_equal(each, np.full(100_000, 6))
        with self.assertRaisesRegex(coset.ArgumentError, "3 arrays for 4 ranks"):
            ranks.allreduce(arrays[:3])
        with self.assertRaises(coset.MismatchError):
            ranks.allreduce(arrays[:3] + [np.zeros(7, dtype=np.float32)])
        ranks.allreduce(arrays)

    def test_verbs_run_without_the_gil(self):
        """Rank 0 waits in a verb until a thread that is no rank has done something: with the GIL, for ever."""
        seen = threading.Event()

        def body(me):
            if me.rank == 1:
                threading.Thread(target=seen.set).start()
                self.assertTrue(seen.wait(60))
            me.barrier()
        team(2).run(body)


class Errors(unittest.TestCase):
    def test_what_a_body_raises_is_raised_by_run(self):
        ranks = team(3)
        for who in range(3):
            def body(me):
                if me.rank == who:
                    raise KeyError("mine")
                me.barrier()
            with self.assertRaisesRegex(KeyError, "mine"):
                ranks.run(body)
        self.assertEqual(ranks.run(lambda me: me.allreduce(1)), [3, 3, 3])

    def test_ranks_that_disagree_all_hear_of_it(self):
        heard = []

        def body(me):
            try:
                me.allreduce(np.zeros(3 + me.rank))
            except coset.MismatchError as error:
                heard.append(str(error))
        with self.assertRaises(coset.Error):
            team(2).run(lambda me: (body(me), me.barrier()))
        self.assertEqual(len(heard), 2)
        for text in heard:
            self.assertRegex(text, "of 3 .*of 4 |of 4 .*of 3 ")

    def test_arrays_that_cannot_be_reduced_are_refused(self):
        read_only = np.zeros(3)
        read_only.flags.writeable = False
        for wrong, words in ((np.zeros((4, 4))[:, ::2], "gaps"), (read_only, "read-only"),
                             (np.zeros(3, dtype=">f8"), "byte order"), (np.array(["a"]), "elements of <U1")):
            with self.assertRaisesRegex(coset.ArgumentError, words):
                team(1).run(lambda me: me.allreduce(wrong))
        with self.assertRaisesRegex(coset.ArgumentError, "no operation is called sum; there are plus"):
            team(1).run(lambda me: me.allreduce(np.zeros(3), op="sum"))
        with self.assertRaisesRegex(coset.ArgumentError, "no operation is called ; there are plus"):
            team(1).run(lambda me: me.allreduce(np.zeros(3), op=""))
        with self.assertRaisesRegex(coset.ArgumentError, "x has elements of float64, out of float32"):
            team(1).run(lambda me: me.allreduce(np.zeros(3), out=np.zeros(3, dtype=np.float32)))

    def test_pieces_that_do_not_fit_are_refused_on_all_ranks(self):
        heard = []

        def body(me, call):
            try:
                call(me)
                me.barrier()  # where a rank may leave before the root comes
            except coset.ArgumentError as error:
                heard.append(str(error))
        root = 1
        for call, words in (
                (lambda me: me.scatter(None, np.empty(2), root), "scatter: the root gives no x"),
                (lambda me: me.scatter(np.zeros(5), np.empty(2), root), "scatter: x has 5 elements and needs 6"),
                (lambda me: me.gather(np.zeros(2), root, out=np.empty(5)), "gather: out has 5 elements and needs 6"),
                (lambda me: me.all_to_all(np.zeros(4)), "all_to_all: x has 4 elements.* 3 equal pieces"),
                (lambda me: me.all_to_all(np.zeros(6), out=np.zeros(3)), "all_to_all: out has 3 elements and needs 6")):
            heard.clear()
            with self.assertRaises(coset.Error):
                team(3).run(lambda me: (body(me, call), me.barrier()))
            self.assertEqual(len(heard), 3)
            for text in heard:
                self.assertRegex(text, words)

    def test_members_end_with_their_body(self):
        kept = team(2).run(lambda me: me)
        with self.assertRaisesRegex(coset.ArgumentError, "after its body has ended"):
            kept[0].barrier()

        def by_another_thread(me):
            caught = []

            def use():
                try:
                    me.barrier()
                except coset.ArgumentError as error:
                    caught.append(str(error))
            other = threading.Thread(target=use)
            other.start()
            other.join()
            return caught[0]
        self.assertIn("another thread", team(1).run(by_another_thread)[0])

    def test_a_request_keeps_its_arrays_and_may_outlive_its_run(self):
        def body(me):
            request = me.start_allreduce(np.ones(50_000))
            gc.collect()
            me.barrier()
            request.wait()
            return request
        team(2).run(body)


class Schedules(unittest.TestCase):
    def test_properties_are_exact(self):
        found = coset.Schedule("ring", ranks=7).properties
        self.assertEqual(found["received_max"], fractions.Fraction(12, 7))
        self.assertEqual(found["steps"], 12)
        self.assertEqual(coset.Schedule("generalized(saved_steps=1)", 7).ranks, 7)

    def test_reads_are_those_of_the_json(self):
        schedule = coset.Schedule("generalized", ranks=6)
        text = json.loads(schedule.json())
        rows = {(s, a["rank"], a["block"], a["slot"], *source)
                for s, step in enumerate(text["steps"]) for a in step for source in a["from"]}
        reads = schedule.reads()
        names = ("step", "rank", "block", "slot", "source_rank", "source_slot")
        self.assertEqual(set(zip(*(reads[name].tolist() for name in names))), rows)
        np.testing.assert_array_equal(schedule.result, np.array(text["result"]))

    def test_json_is_proved(self):
        schedule = coset.Schedule("direct", ranks=4)
        self.assertEqual(coset.Schedule.from_json(schedule.json()).properties, schedule.properties)
        wrong = json.loads(schedule.json())
        del wrong["properties"]
        wrong["steps"][0][0]["from"].pop()
        with self.assertRaises(coset.ScheduleError):
            coset.Schedule.from_json(json.dumps(wrong))
        with self.assertRaises(coset.ScheduleError):
            coset.Schedule.from_json("{}")

    def test_cost_is_linear_and_of_any_shape(self):
        ring = coset.Schedule("ring", ranks=4)
        costs = ring.cost(np.array([[0.0, 1e6], [2e6, 3e6]]), alpha=1e-6, beta=1e-9, gamma=0)
        self.assertEqual(costs.shape, (2, 2))
        self.assertAlmostEqual(costs[0, 0], 6e-6)
        self.assertAlmostEqual(costs[0, 1], 6e-6 + 1.5e-3)
        order = coset.compare(ranks=8, bytes=8)
        self.assertEqual(order, sorted(order, key=lambda one: one[1]))
        self.assertLess(order[0][1], coset.Schedule("ring", 8).cost(8))

    def test_there_are_pictures_and_names(self):
        schedule = coset.Schedule("direct", ranks=3)
        self.assertIn("<svg", schedule._repr_svg_())
        self.assertIn("digraph", schedule.dot())
        self.assertIn("direct", repr(schedule))
        self.assertTrue(schedule.text())
        self.assertIn("ring", [row["name"] for row in coset.algorithms()])
        for wrong in (0, -1, 2.5):
            for call in (lambda: coset.Schedule("ring", wrong), lambda: coset.compare(wrong, 8)):
                with self.assertRaisesRegex(coset.ArgumentError, f": ranks is {wrong}; "):
                    call()
        for wrong in (-1, float("nan"), float("inf")):
            for call in (lambda: coset.Schedule("ring", 3).cost([8, wrong]), lambda: coset.compare(3, wrong)):
                with self.assertRaisesRegex(coset.ArgumentError, "no number of bytes"):
                    call()
        with self.assertRaisesRegex(coset.ScheduleError, "no_such"):
            coset.Schedule("no_such", ranks=3)


if __name__ == "__main__":
    unittest.main()
