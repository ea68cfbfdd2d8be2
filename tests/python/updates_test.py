#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""add_at() and bincount() beside numpy's, bit for bit.

usage: updates_test.py FOLDER"""
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

from support import coset, folder, team

SEED = int(os.environ.get("COSET_TEST_SEED", "49"))
UFUNCS = {"plus": np.add, "multiplies": np.multiply, "minimum": np.minimum, "maximum": np.maximum,
          "bit_and": np.bitwise_and, "bit_or": np.bitwise_or, "bit_xor": np.bitwise_xor}
BITS = ("bit_and", "bit_or", "bit_xor")
INTEGERS = [np.dtype(f"{sign}{bytes}") for sign in "iu" for bytes in (1, 2, 4, 8)]
FLOATS = [np.dtype(f"f{bytes}") for bytes in (2, 4, 8)]
COMPLEX = [np.dtype("c8"), np.dtype("c16")]
# One thread alone, and enough for several.
COUNTS = (0, 1, 100, 30_000)


def operations_of(dtype):
    if dtype.kind == "c":
        return ("plus", "multiplies")
    return tuple(UFUNCS) if dtype.kind in "iub" else tuple(op for op in UFUNCS if op not in BITS)


def numbers(random, dtype, shape):
    """Some of each kind, so that order tells in sums, and products neither vanish nor overflow at once."""
    if dtype.kind in "iu":
        kind = np.iinfo(dtype)
        return random.integers(kind.min, kind.max, shape, dtype, endpoint=True)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    real = random.uniform(0.5, 1.5, shape) * random.choice([-1, 1], shape)
    return (real + 1j * random.uniform(-1, 1, shape) if dtype.kind == "c" else real).astype(dtype)


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


class AddAt(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(SEED)

    def check(self, array, index, values, op="plus", **options):
        expected, ours = array.copy(), array.copy()
        with np.errstate(all="ignore"):
            UFUNCS[op].at(expected, index, values)
        self.assertIsNone(coset.add_at(ours, index, values, op=op, **options))
        said = f"seed {SEED}: {op} {options}"
        if op == "multiplies" and array.dtype.kind == "c":  # numpy fuses products and sums where the processor does
            np.testing.assert_allclose(ours, expected, 1e-3 if array.dtype == "c8" else 1e-10, err_msg=said)
        else:
            self.assertTrue(same_bits(expected, ours), said)

    def test_numbers_to_check_in_the_head(self):
        x = np.zeros(4)
        coset.add_at(x, [1, 1, -1], [0.5, 0.25, 8])
        self.assertEqual(x.tolist(), [0, 0.75, 0, 8])
        coset.add_at(x, np.array([0, 1]), 3, op="maximum")
        self.assertEqual(x.tolist(), [3, 3, 0, 8])

    def test_each_type_and_operation(self):
        for dtype in INTEGERS + FLOATS + COMPLEX + [np.dtype(bool)]:
            for op in operations_of(dtype):
                for count in COUNTS:
                    with self.subTest(dtype=dtype, op=op, count=count):
                        index = self.random.integers(-300, 300, count)
                        self.check(numbers(self.random, dtype, 300), index, numbers(self.random, dtype, count), op)

    def test_each_way(self):
        index, values = self.random.integers(0, 1000, 30_000), self.random.normal(size=30_000)
        for way in ("one_thread", "owner_scan", "partition"):
            self.check(np.ones(1000), index, values, way=way)
        expected = np.bincount(index, values)
        for way in ("private_copies", "atomics"):
            ours = np.zeros(1000)
            coset.add_at(ours, index, values, way=way, serial=False)
            np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-9)

    def test_each_type_of_index(self):
        for dtype in INTEGERS:
            for count in COUNTS:
                low = 0 if dtype.kind == "u" else -100
                index = self.random.integers(low, 100, count).astype(dtype)
                self.check(np.zeros(100), index, self.random.normal(size=count))
                self.check(np.zeros(100), index[::-3], self.random.normal(size=index[::-3].size))

    def test_indices_of_any_shape(self):
        wide = self.random.integers(0, 50, (60, 100, 4))
        for index in (wide, wide[:, ::2, 1], wide.T, np.asfortranarray(wide), wide.astype(">i4"), 7, -1, np.int8(3), [], [[]],
                      [1, 2], np.frombuffer(bytearray(wide.tobytes()) + b"1", "i1").view("i1")[:80 * 8].view("i8")):
            shape = np.shape(index)
            self.check(np.zeros(50), index, 0.1)
            self.check(np.zeros(50), index, self.random.normal(size=shape))
        self.check(np.zeros(50), wide, self.random.normal(size=4))
        self.check(np.zeros(50), wide, self.random.normal(size=(100, 1)))
        unaligned = np.frombuffer(bytearray(b"1" + wide.tobytes()), "i8", offset=1)
        self.check(np.zeros(50), unaligned, 1.5)

    def test_several_dimensions(self):
        for order in "CF":
            array = np.zeros((7, 9, 5), order=order)
            for count in COUNTS:
                index = tuple(self.random.integers(-n, n, count) for n in array.shape)
                self.check(array, index, self.random.normal(size=count))
            self.check(array, (np.arange(7)[:, None], np.arange(9, dtype="u1"), 2), self.random.normal(size=(7, 9)))
        self.check(np.zeros((7, 9, 5))[::2, :, 1:3], ([0, -1, 0], [8, 8, 8], 1), [1, 2, 3])
        self.check(np.zeros(()), (), 2.5)

    def test_arrays_with_gaps(self):
        index, values = self.random.integers(-100, 100, 30_000), self.random.normal(size=30_000)
        for of in (lambda x: x[::2], lambda x: x[::-1], lambda x: x[50:150], lambda x: x.astype(">f8")[:100]):
            expected, ours = (np.ones(200) for _ in range(2))
            theirs, mine = of(expected), of(ours)
            index_here = index % len(mine)
            np.add.at(theirs, index_here, values)
            coset.add_at(mine, index_here, values)
            self.assertTrue(same_bits(expected, ours) and same_bits(theirs, mine))
        unaligned = np.frombuffer(bytearray(801), offset=1, count=100)
        self.check(unaligned, index, values)

    def test_buffers_of_python(self):
        import array
        x = array.array("d", [1, 2, 3])
        coset.add_at(x, [0, 0], 1)
        self.assertEqual(x.tolist(), [3, 2, 3])

    def test_values_are_converted_where_numpy_adds_them_in_place(self):
        """numpy.add.at() itself converts all, 1.5 to an integer and a complex number to its real part."""
        index = [0, 1, 1]
        for array in (np.zeros(3, dtype) for dtype in INTEGERS + FLOATS + COMPLEX + [np.dtype(bool)]):
            for values in (1, 1.5, True, 1j, np.float32(1.5), np.ones(3, "u8"), np.ones(3, "i8"), np.ones(3), np.ones(3, "c8"),
                           np.ones(3, bool), [1, 2, 3], [0.5] * 3):
                with self.subTest(array=array.dtype, values=repr(values)):
                    try:
                        np.add(array, values, out=array.copy(), casting="same_kind")
                    except TypeError:
                        with self.assertRaisesRegex(TypeError, "same_kind"):
                            coset.add_at(array, index, values)
                        self.assertFalse(array.any())
                    else:
                        self.check(array, index, values)
        self.check(np.zeros(5), [0, 1], np.ones(2, ">f8"))

    def test_arrays_that_share_memory(self):
        def shared(update):
            whole = np.arange(40_000)
            update(whole)
            return whole
        for update in (lambda x, at: at(x[:100], x[100:30_100] % 100, x[:30_000]),
                       lambda x, at: at(x, x[::-1], x),
                       lambda x, at: at(x[1:], x[:-1] % 50, x[1:]),
                       lambda x, at: at(x, x % 7, x[3:4])):
            self.assertTrue(same_bits(shared(lambda x: update(x, np.add.at)), shared(lambda x: update(x, coset.add_at))))

    def test_an_index_outside_changes_nothing(self):
        for count in (10, 30_000):
            for dtype in INTEGERS:
                for wrong in (100, -101, np.iinfo(dtype).max, np.iinfo(dtype).min):
                    if wrong < 0 and dtype.kind == "u" or -100 <= wrong < 100:
                        continue
                    index = np.ones(count, dtype)
                    index[count // 2] = wrong
                    array = np.zeros(100)
                    with self.assertRaisesRegex(IndexError, f"index {wrong} is out of bounds for axis 0 with size 100"):
                        coset.add_at(array, index, 1.0)
                    self.assertFalse(array.any())
        array = np.zeros((3, 4))
        for index, words in ((([0], [4]), "index 4 is out of bounds for axis 1 with size 4"),
                             (([-4], [0]), "index -4 is out of bounds for axis 0 with size 3")):
            with self.assertRaisesRegex(IndexError, words):
                coset.add_at(array, index, 1.0)
        with self.assertRaisesRegex(IndexError, "index 0 is out of bounds for axis 0 with size 0"):
            coset.add_at(np.zeros(0), [0], 1.0)
        self.assertFalse(array.any())

    def test_what_is_refused(self):
        read_only = np.zeros(3)
        read_only.flags.writeable = False
        for array, words in ((read_only, "array is read-only"), ([0, 1], "array is of type list"),
                             (np.zeros(3, object), "array has elements of object"), (np.zeros(3, "g"), "array has elements of"),
                             (np.zeros(3, "M8[s]"), "array has elements of"), (np.ma.zeros(3), "array is a masked array")):
            with self.assertRaisesRegex(coset.ArgumentError, words):
                coset.add_at(array, [0], 1)
        x = np.zeros((2, 3))
        for index, words in (([0], "index has 1 arrays and array 2 dimensions"), (((0, 1, 2)), "index has 3 arrays"),
                             (([0.0], [0]), "index has elements of float64"), (([True], [0]), "numpy.nonzero"),
                             ((["a"], [0]), "index has elements of <U1"), ((slice(0, 1), [0]), "index has elements of object")):
            with self.assertRaisesRegex(coset.ArgumentError, words):
                coset.add_at(x, index, 1)
        with self.assertRaisesRegex(ValueError, "broadcast"):
            coset.add_at(x, ([0, 1], [0, 1]), [1, 2, 3])
        with self.assertRaisesRegex(ValueError, "shape mismatch"):
            coset.add_at(x, ([0, 1], [0, 1, 2]), 1)
        for options, words in (({"op": "minus"}, "no operation is called minus"), ({"op": "logical_or"}, "op is logical_or"),
                               ({"op": "bit_or"}, "op=bit_or does not go with elements of float64"),
                               ({"way": "fastest"}, "way is fastest; there are one_thread"),
                               ({"threads": 0}, "threads is 0; it has to be a whole number from 1")):
            with self.assertRaisesRegex(coset.ArgumentError, words):
                coset.add_at(x, ([0], [0]), 1, **options)
        with self.assertRaisesRegex(coset.ArgumentError, "op=minimum does not go with elements of complex128"):
            coset.add_at(np.zeros(3, complex), [0], 1, op="minimum")
        self.assertFalse(x.any())

    def test_numbers_of_threads(self):
        index, values = self.random.integers(0, 1000, 30_000), self.random.normal(size=30_000)
        for threads in (1, 2, 3, 5, None):
            self.check(np.zeros(1000), index, values, threads=threads)


class Bincount(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(SEED)

    def test_beside_numpy(self):
        for count in COUNTS:
            for bins in (1, 10, 100_000):
                x, weights = self.random.integers(0, bins, count), self.random.normal(size=count)
                for least in (0, 7, 200_000):
                    self.assertTrue(same_bits(np.bincount(x, minlength=least), coset.bincount(x, minlength=least)))
                    self.assertTrue(same_bits(np.bincount(x, weights, least), coset.bincount(x, weights, least)))

    def test_each_type(self):
        for count in COUNTS:
            for dtype in INTEGERS[:7] + [np.dtype(bool), np.dtype(">i2")]:
                x = self.random.integers(0, 2, count).astype(dtype)
                weights = self.random.integers(0, 9, count).astype("f4")
                self.assertTrue(same_bits(np.bincount(x), coset.bincount(x)), dtype)
                self.assertTrue(same_bits(np.bincount(x[::2], weights[::2]), coset.bincount(x[::2], weights[::2])))
        self.assertTrue(same_bits(np.bincount([3, 1, 1]), coset.bincount([3, 1, 1])))
        self.assertTrue(same_bits(np.bincount([]), coset.bincount([])))

    def test_what_is_refused_as_numpy_does(self):
        for x, options, kind, words in (([1, -3], {}, ValueError, "negative element, -3"), ([[1]], {}, ValueError, "2 dimensions"),
                                        ([1], {"minlength": -1}, ValueError, "minlength is -1"),
                                        (np.array([1.5]), {}, TypeError, "x has elements of float64"),
                                        (np.ones(2, "u8"), {}, TypeError, "x has elements of uint64"),
                                        ([1, 2], {"weights": [1]}, ValueError, "1 weights for 2 elements"),
                                        ([1], {"weights": np.array([1j])}, TypeError, "weights have elements of complex128")):
            with self.assertRaises(kind):
                np.bincount(x, **options)
            with self.assertRaisesRegex(kind, words):
                coset.bincount(x, **options)
        with self.assertRaisesRegex(ValueError, "no array is so long"):
            coset.bincount([2**63 - 1])


class SeveralThreads(unittest.TestCase):
    """The team is one call's at a time: the others work alone."""
    def test_at_once(self):
        random = np.random.default_rng(SEED)
        index, values = random.integers(0, 1000, 50_000), random.normal(size=50_000)
        expected = np.bincount(index, values)
        begin, wrong = threading.Barrier(4), []

        def calls():
            begin.wait()
            for _ in range(20):
                if not same_bits(coset.bincount(index, values), expected):
                    wrong.append("bits")

        threads = [threading.Thread(target=calls) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(wrong, [])

    def test_in_a_body(self):
        x = np.arange(50_000) % 7
        self.assertEqual(team(2).run(lambda me: coset.bincount(x).tolist()), [np.bincount(x).tolist()] * 2)

    def test_the_gil_is_free_meanwhile(self):
        # The other thread needs the GIL for each of its steps, and gives it back.
        steps, done = [], threading.Event()
        x = np.zeros(1 << 20, "i8")

        def count():
            while not done.is_set():
                steps.append(1)
                time.sleep(0)
        other = threading.Thread(target=count)
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)  # nobody is made to give the GIL away
        try:
            other.start()
            calls = 0
            while len(steps) < 3 and calls < 10_000:
                coset.bincount(x)
                calls += 1
        finally:
            sys.setswitchinterval(interval)
            done.set()
            other.join()
        self.assertGreaterEqual(len(steps), 3)

    def test_forked_children(self):
        x = np.arange(50_000) % 1000
        expected = np.bincount(x)
        self.assertTrue(same_bits(coset.bincount(x), expected))
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            status = 9
            try:
                status = 3 if all(same_bits(coset.bincount(x), expected) for _ in range(3)) else 4
            finally:
                os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 3)
        self.assertTrue(same_bits(coset.bincount(x), expected))

    def test_forked_during_a_call_of_another_thread(self):
        x = np.arange(300_000) % 1000
        expected, done = np.bincount(x), threading.Event()

        def calls():
            while not done.is_set():
                coset.bincount(x)
        other = threading.Thread(target=calls)
        other.start()
        try:
            for _ in range(10):
                child = os.fork()
                if child == 0:
                    signal.alarm(60)
                    os._exit(3 if same_bits(coset.bincount(x), expected) else 4)
                self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 3)
        finally:
            done.set()
            other.join()

    def test_the_interpreter_ends_during_a_call(self):
        program = ("import sys, threading; sys.path.insert(0, sys.argv[1]); import coset, numpy as np\n"
                   "begun = threading.Semaphore(0)\n"
                   "def loop():\n"
                   "    x = np.arange(200_000) % 1000\n"
                   "    while True:\n"
                   "        coset.bincount(x, x)\n"
                   "        begun.release()\n"
                   "for _ in range(2): threading.Thread(target=loop, daemon=True).start()\n"
                   "for _ in range(4): begun.acquire()\n"
                   "print('end')\n")
        for _ in range(3):
            ended = subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True, timeout=60)
            self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "end\n", ""))


if __name__ == "__main__":
    unittest.main()
