#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whatever a verb writes to has changed afterwards, or is refused by name: every argument of every verb."""
import array
import ctypes
import unittest

import numpy as np

from support import Starting, coset, team
from verbs import NAMES, calls_of, parameters, shape

# Of two ranks, each with a target of two doubles that begins as [1, 2]; what it is afterwards, by rank. What is written to in
# place is what the rank gives.
NOW = [1.0, 2.0]


def calls_on_two():
    """By verb and the name of what is written to."""
    for verb in NAMES:
        of = shape(verb)
        length = 1 if of.gives_pieces or of.swaps else 2
        for call in calls_of(verb, length=length):
            if call.in_place:
                call.value = lambda rank, i: NOW[i]
            if not of.meets:
                yield (verb, "x" if call.in_place else "out"), call


CALLS = dict(calls_on_two())
WRITTEN = {at: (call, [call.expected(rank, 2) for rank in range(2)]) for at, call in CALLS.items()}
STARTED = {("start_" + verb, name): (lambda me, to, call=call: call(Starting(me), to), expected)
           for (verb, name), (call, expected) in WRITTEN.items()}
WRITTEN |= STARTED
# An output that the root alone passes; elsewhere the value returned is what was written to.
OF_ROOT = {(start + verb, name) for (verb, name), call in CALLS.items() for start in ("", "start_") if call.only_root_passes}

BUFFERS = {
    "numpy": lambda: np.array(NOW),
    "a row of numpy": lambda: np.array([[0.0, 0.0], NOW])[1],
    "array.array": lambda: array.array("d", NOW),
    "memoryview": lambda: memoryview(bytearray(np.array(NOW).tobytes())).cast("d"),
    "memoryview of numpy": lambda: memoryview(np.array(NOW)),
    "ctypes": lambda: (ctypes.c_double * 2)(*NOW),
    "shared": lambda: np.frombuffer(bytearray(np.array(NOW).tobytes())),
}


def read_only():
    x = np.array(NOW)
    x.flags.writeable = False
    return x


REFUSED = {
    "list": (lambda: list(NOW), "of type list"),
    "tuple": (lambda: tuple(NOW), "of type tuple"),
    "nothing": (lambda: None, "of type NoneType"),
    "something": (object, "of type object"),
    "read-only": (read_only, "read-only"),
    "bytes": (lambda: b"12", "read-only"),
    "memoryview of read-only": (lambda: memoryview(np.array(NOW).tobytes()).cast("d"), "read-only"),
    "with gaps": (lambda: np.array([1.0, 0.0, 2.0, 0.0])[::2], "gaps"),
    "memoryview with gaps": (lambda: memoryview(array.array("d", [1.0, 0.0, 2.0, 0.0]))[::2], "gaps"),
    "Fortran's order": (lambda: np.asfortranarray(np.ones((2, 2))), "another order"),
    "another byte order": (lambda: np.array(NOW, dtype=">f8"), "byte order"),
    "not aligned": (lambda: np.frombuffer(bytearray(17), offset=1), "middle of an element"),
    "masked": (lambda: np.ma.array(NOW, mask=[0, 1]), "masked"),
    "objects": (lambda: np.array(NOW, dtype=object), "elements of object"),
    "text": (lambda: np.array(["1", "2"]), "elements of <U1"),
    "records": (lambda: np.zeros(2, dtype=[("a", "f8")]), "elements of"),
    "long doubles": (lambda: np.array(NOW, dtype=np.longdouble), "elements of float128"),
    "array.array of text": (lambda: array.array("u", "12"), "elements of <U1"),
}


class Buffers(unittest.TestCase):
    def test_everything_that_is_written_to_is_here(self):
        """Each verb that has `out`, and those that change x."""
        written = {(verb, "out") for verb in dir(coset.Member) if "out:" in (getattr(coset.Member, verb).__doc__ or "")}
        self.assertEqual({at for at in WRITTEN if at[1] == "out"}, written)
        self.assertEqual({verb for verb, _ in CALLS}, {verb for verb in NAMES if not shape(verb).meets})

    def test_what_lends_its_memory_is_written_to(self):
        for at, (call, expected) in WRITTEN.items():
            for kind, make in BUFFERS.items():
                with self.subTest(at=at, kind=kind):
                    def body(me):
                        target = make()
                        given = call(me, target)
                        self.assertIs(given, None if at in STARTED or at in OF_ROOT and me.rank != 1 else target)
                        return list(target)
                    for got, wanted in zip(team(2).run(body), expected):
                        if wanted is not None:
                            self.assertEqual(got, wanted)

    def test_what_would_be_copied_is_refused_by_name(self):
        for (verb, name), (call, _) in WRITTEN.items():
            for kind, (make, words) in REFUSED.items():
                if kind == "nothing" and name == "out" and parameters(verb)["out"]:
                    continue  # without `out` x is changed, or an array is made
                with self.subTest(verb=verb, name=name, kind=kind):
                    def body(me):
                        target = make()
                        with self.assertRaisesRegex(coset.ArgumentError, f"^{verb}: {name} .*{words}"):
                            call(me, target)
                        raise KeyError  # the team has failed
                    with self.assertRaises(KeyError):
                        team(1 if (verb, name) in OF_ROOT else 2).run(body)

    def test_numbers_are_no_outputs(self):
        for verb, name in WRITTEN:
            if name != "out":
                continue
            for number in (0.0, np.float64(0), True):
                with self.subTest(verb=verb), self.assertRaisesRegex(coset.ArgumentError, f"^{verb}: out is of type "):
                    team(1).run(lambda me: WRITTEN[verb, name][0](me, number))

    def test_what_is_started_changes_no_numbers(self):
        for verb, name in STARTED:
            if name == "x":
                with self.subTest(verb=verb), self.assertRaisesRegex(coset.ArgumentError, f"^{verb}: x is of type float"):
                    team(1).run(lambda me: WRITTEN[verb, name][0](me, 0.5))

    def test_every_element_of_array_array(self):
        for code in "bBhHiIlLqQfd":
            def body(me):
                return me.allreduce(array.array(code, [1, 2])).tolist()
            self.assertEqual(team(2).run(body), [[2, 4], [2, 4]])

    def test_bytes_of_a_bytearray_are_numbers(self):
        self.assertEqual(team(2).run(lambda me: bytes(me.allreduce(bytearray([1, 100])))), [bytes([2, 200])] * 2)

    def test_memory_is_not_moved_while_an_operation_is_under_way(self):
        def body(me):
            held = array.array("d", [1.0] * 1000)
            request = me.start_allreduce(held)
            with self.assertRaises(BufferError):
                held.append(0)
            request.wait()
            return held[999]
        self.assertEqual(team(2).run(body), [2.0, 2.0])

    def test_what_is_only_read_may_be_a_list(self):
        out = np.zeros(2)
        for given in (list(NOW), tuple(NOW), read_only(), array.array("d", NOW), [np.float64(1), 2.0], np.array(NOW)):
            def body(me):
                return me.allreduce(given, out=np.zeros(2)).tolist()
            self.assertEqual(team(2).run(body), [[2, 4], [2, 4]])
        for wrong, words in ((np.ones(4)[::2], "x has gaps"), (["a", "b"], "x has elements of <U1"), ([1, 2], "float64")):
            with self.assertRaisesRegex(coset.ArgumentError, "^allreduce: .*" + words):
                team(1).run(lambda me: me.allreduce(wrong, out=out))
        self.assertEqual(out.tolist(), [0, 0])

    def test_arrays_of_all_ranks_are_written_to_or_refused(self):
        for kind, make in BUFFERS.items():
            targets = [make(), make()]
            team(2).allreduce(targets)
            self.assertEqual([list(each) for each in targets], [[2, 4]] * 2, kind)
        for kind, (make, words) in REFUSED.items():
            with self.subTest(kind=kind), self.assertRaisesRegex(
                    coset.ArgumentError, fr"^Team.allreduce: arrays\[1\] .*{words}"):
                team(2).allreduce([np.array(NOW), make()])
        with self.assertRaisesRegex(coset.ArgumentError, "Team.allreduce: op=bit_and does not go with .*float64"):
            team(2).allreduce([np.array(NOW), np.array(NOW)], op="bit_and")


class Numbers(unittest.TestCase):
    def test_ranks_and_roots_are_whole_numbers(self):
        for wrong in (0, -1, 2.0, 2.5, "2", True, 10**9, 2**32, 2**80, [2]):
            with self.subTest(ranks=wrong), self.assertRaisesRegex(coset.ArgumentError, "^Team: ranks is .*from 1 to "):
                coset.Team(wrong)
        self.assertEqual(coset.Team(np.int64(2), placement="unbound").size, 2)
        self.assertEqual(coset.Team(None, placement="unbound").size, coset.Team(placement="unbound").size)
        with self.assertRaisesRegex(coset.ArgumentError, "^Team: placement is near; there are compact"):
            coset.Team(2, placement="near")
        for verb, call in (("broadcast", lambda me, root: me.broadcast(1.0, root=root)),
                           ("reduce", lambda me, root: me.reduce(1.0, root=root)),
                           ("gather", lambda me, root: me.gather(1.0, root=root)),
                           ("scatter", lambda me, root: me.scatter([1.0], np.zeros(1), root=root))):
            for wrong in (-1, 0.5, None, True):
                with self.assertRaisesRegex(coset.ArgumentError, f"^{verb}: root is {wrong}; "):
                    team(1).run(lambda me: call(me, wrong))
                with self.assertRaisesRegex(coset.ArgumentError, f"^start_{verb}: root is {wrong}; "):
                    team(1).run(lambda me: call(Starting(me), wrong))
            with self.assertRaisesRegex(coset.ArgumentError, f"{verb}: there is no root 1 in a team of 1"):
                team(1).run(lambda me: call(me, 1))


if __name__ == "__main__":
    unittest.main()
