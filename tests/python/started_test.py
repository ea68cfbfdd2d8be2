#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every verb in split phase: results, several operations under way, and what is wrong heard of by all ranks."""
import gc
import threading
import unittest
import weakref

from support import coset, team
from verbs import NAMES, calls

import numpy as np


def numbers(*values):
    return np.array(values, dtype=np.float64)


class Row:
    """A verb as every rank starts it, with the array that gets this rank's result, and what that has to be."""

    def __init__(self, start, target, expected):
        self.start, self.target, self.expected = start, target, expected


def row_of(call):
    return Row(lambda me, to: call(me, to, starts=True), lambda me: numbers(*call.target(me.rank, me.size)),
               {ranks: [call.expected(rank, ranks) for rank in range(ranks)] for ranks in (2, 3)})


# Other operations than sums, and numbers instead of arrays: rank r gives r + 1. The root is rank 1.
ROWS = {str(call): row_of(call) for call in calls()} | {
    "allreduce, in place, the largest": Row(lambda me, to: me.start_allreduce(to, op="maximum"),
                                            lambda me: numbers(me.rank, -me.rank),
                                            {2: [[1, 0]] * 2, 3: [[2, 0]] * 3}),
    "reduce, in place, products": Row(lambda me, to: me.start_reduce(to, root=1, op="multiplies"),
                                      lambda me: numbers(me.rank + 1, 2),
                                      {2: [None, [2, 4]], 3: [None, [6, 8], None]}),
    "allgather of numbers": Row(lambda me, to: me.start_allgather(me.rank + 1.0, to),
                                lambda me: np.zeros(me.size),
                                {2: [[1, 2]] * 2, 3: [[1, 2, 3]] * 3}),
    "gather of numbers": Row(lambda me, to: me.start_gather(me.rank + 1.0, 1, to if me.rank == 1 else None),
                             lambda me: np.zeros(me.size),
                             {2: [[0, 0], [1, 2]], 3: [[0, 0, 0], [1, 2, 3], [0, 0, 0]]}),
}


class Started(unittest.TestCase):
    def assert_results(self, name, ranks, got):
        for rank, (one, expected) in enumerate(zip(got, ROWS[name].expected[ranks])):
            if expected is not None:  # what this rank's array has afterwards is not defined
                self.assertEqual(one.tolist(), expected, f"{name} of {ranks} ranks, rank {rank}")

    def test_every_verb_is_started_with_the_arguments_of_the_blocking_one(self):
        verbs = {name for name in dir(coset.Member) if not name.startswith("_")} - {"rank", "size"}
        blocking = {name for name in verbs if not name.startswith("start_")}
        self.assertEqual(verbs, blocking | {"start_" + name for name in blocking})
        self.assertEqual(blocking, set(NAMES))
        self.assertEqual(blocking, {call.verb for call in calls()})

        def words(verb):
            of = getattr(coset.Member, verb).__doc__.splitlines()[0]
            return of[of.index("("):of.rindex(" -> ")]
        for verb in blocking:
            self.assertEqual(words("start_" + verb), words(verb))

    def test_results(self):
        for ranks in (2, 3):
            for name, row in ROWS.items():
                for tests in (False, True):
                    def body(me):
                        target = row.target(me)
                        request = row.start(me, target)
                        while tests and not request.test():
                            pass
                        self.assertIsNone(request.wait())
                        return target
                    self.assert_results(name, ranks, team(ranks).run(body))

    def test_long_arrays(self):
        def body(me):
            x, pieces, mine = np.full(300_000, me.rank + 1.0), np.empty(300_000), np.empty(100_000)
            requests = [me.start_all_to_all(x, pieces), me.start_reduce_scatter(x, mine)]
            for request in requests:
                request.wait()
            return pieces[::100_000].tolist(), np.unique(mine).tolist()
        self.assertEqual(team(3).run(body), [([1, 2, 3], [6])] * 3)

    def test_several_are_under_way_and_are_waited_for_in_any_order(self):
        """The ninth start completes the first operation."""
        for ranks in (2, 3):
            for backwards in (False, True):
                def body(me):
                    targets = [row.target(me) for row in ROWS.values()]
                    requests = [row.start(me, target) for row, target in zip(ROWS.values(), targets)]
                    for request in reversed(requests) if backwards else requests:
                        request.wait()
                    return targets
                for name, *got in zip(ROWS, *team(ranks).run(body)):
                    self.assert_results(name, ranks, got)

    def test_a_request_keeps_its_arrays(self):
        def body(me):
            x, out = numbers(1, 2, 3), numbers(0, 0, 0)
            kept = [weakref.ref(x), weakref.ref(out)]
            request = me.start_allreduce(x, out=out)
            del x, out
            gc.collect()
            self.assertTrue(all(each() is not None for each in kept))
            request.wait()
            self.assertEqual(kept[1]().tolist(), [3, 6, 9])
            del request
            gc.collect()
            self.assertTrue(all(each() is None for each in kept))
        team(3).run(body)

    def test_a_request_that_is_dropped_aborts_the_team(self):
        dropped, heard = threading.Event(), []

        def body(me):
            if me.rank == 1:
                me.start_barrier()
                dropped.set()
            else:
                dropped.wait()
            try:
                me.barrier()
            except coset.Aborted:
                heard.append(me.rank)
        with self.assertRaises(coset.Error):
            team(2).run(lambda me: (body(me), me.barrier()))
        self.assertEqual(sorted(heard), [0, 1])


def wrong_length(call):
    """With an output so much longer, on three ranks, and what is said of it."""
    def start(me, n):
        return call(me, np.zeros((call.out_length(me.rank, me.size) or 0) + n), starts=True)
    right = call.out_length(1, 3)
    by_out = call.shape.from_root and call.shape.gets_pieces  # the whole is as long as the root's piece says
    return start, (f"x has {right * 3} elements and needs {right * 3 + 3}" if by_out else
                   f"out has {right + 1} elements and needs {right}")


class Errors(unittest.TestCase):
    # The calls take by how many elements a rank is wrong; the root is rank 1.
    WRONG = {call.verb: wrong_length(call) for call in calls() if not (call.in_place or call.shape.meets)} | {
        "all_to_all": (lambda me, n: me.start_all_to_all(np.zeros(6 - n)), "x has 5 elements, .* 3 equal pieces")}

    def errors_of(self, ranks, call):
        """What each rank hears in the verb or in the barrier after it: a rank may leave before rank 1 comes."""
        heard = [None] * ranks

        def body(me):
            try:
                call(me).wait()
                me.barrier()
            except coset.Error as error:
                heard[me.rank] = error
                raise
        with self.assertRaises(coset.Error):
            team(ranks).run(body)
        return heard

    def test_a_wrong_length_is_raised_on_all_ranks(self):
        for verb, (call, words) in self.WRONG.items():
            with self.subTest(verb):
                for error in self.errors_of(3, lambda me: call(me, int(me.rank == 1))):
                    self.assertIsInstance(error, coset.ArgumentError)
                    self.assertRegex(str(error), f"start_{verb}: {words}")

    def test_lengths_that_differ_between_ranks_are_raised_on_all_ranks(self):
        for ranks in (2, 3):
            for call in (lambda me: me.start_broadcast(np.zeros(3 + me.rank)),
                         lambda me: me.start_allreduce(np.zeros(3 + me.rank)),
                         lambda me: me.start_reduce_scatter(np.zeros((1 + me.rank) * ranks), np.zeros(1 + me.rank)),
                         lambda me: me.start_barrier() if me.rank == 0 else me.start_allreduce(np.zeros(3))):
                for error in self.errors_of(ranks, call):
                    self.assertIsInstance(error, coset.MismatchError)

    def test_the_root_passes_where_a_gather_goes(self):
        for error in self.errors_of(2, lambda me: me.start_gather(1.0)):
            self.assertRegex(str(error), "start_gather: out is of type NoneType")
        for error in self.errors_of(2, lambda me: me.start_scatter(None, np.zeros(1))):
            self.assertRegex(str(error), "start_scatter: the root gives no x")

    def test_a_request_of_another_thread_is_refused(self):
        def body(me):
            caught, target = [], numbers(me.rank)
            requests = [me.start_broadcast(target, 1), me.start_barrier()]

            def other():
                for use in [use for request in requests for use in (request.test, request.wait)]:
                    try:
                        use()
                    except coset.ArgumentError as error:
                        caught.append(str(error))
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
            for request in requests:
                request.wait()
            return caught, target.tolist()
        for caught, target in team(2).run(body):
            self.assertEqual(caught, ["a request is used by another thread than its rank's"] * 4)
            self.assertEqual(target, [1])

    def test_a_member_that_has_ended_starts_nothing(self):
        for me in team(2).run(lambda me: me):
            for call, _ in self.WRONG.values():
                with self.assertRaisesRegex(coset.ArgumentError, "after its body has ended"):
                    call(me, 0)
            with self.assertRaisesRegex(coset.ArgumentError, "after its body has ended"):
                me.start_barrier()


if __name__ == "__main__":
    unittest.main()
