#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""histogram() beside numpy's: the same bins for samples on edges and beside them.

usage: histogram_test.py FOLDER"""
import os
import unittest
import warnings

import numpy as np

from support import coset

SEED = int(os.environ.get("COSET_TEST_SEED", "49"))


class Histogram(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(SEED)

    def check(self, a, *arguments, **options):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            expected, edges = np.histogram(a, *arguments, **options)
            ours, found = coset.histogram(a, *arguments, **options)
        said = f"seed {SEED}: {arguments} {options}"
        self.assertEqual((ours.dtype, found.dtype), (expected.dtype, edges.dtype), said)
        np.testing.assert_array_equal(found, edges, said)
        if options.get("weights") is None:
            np.testing.assert_array_equal(ours, expected, said)
        else:
            np.testing.assert_allclose(ours, expected, *((1e-4, 1e-2) if ours.dtype == "f4" else (1e-11, 1e-9)), err_msg=said)

    def test_numbers_to_check_in_the_head(self):
        counts, edges = coset.histogram([0.0, 1.0, 1.5, 2.0, 3.0], bins=3)
        self.assertEqual((counts.tolist(), edges.tolist()), ([1, 2, 2], [0, 1, 2, 3]))

    def test_equal_bins(self):
        for dtype in ("f8", "f4", "i4", "u8", "i1", "?"):
            for count in (0, 1, 2, 1000, 70_000):
                a = (self.random.normal(size=count) * 50).astype(dtype)
                for bins in (1, 2, 10, 1000, np.int32(7)):
                    if count > 0 or dtype != "?":
                        self.check(a, bins)
                    self.check(a, bins, range=(-20, 31.5))
                    self.check(a, bins, density=True, range=(0, 100))

    def test_samples_on_edges_and_beside_them(self):
        for dtype in ("f8", "f4"):
            for _ in range(100):
                low, width, bins = self.random.normal(), 10.0 ** self.random.integers(-4, 12), self.random.integers(1, 300)
                edges = np.histogram_bin_edges(np.zeros(0, dtype), bins, (low, low + width))
                for a in (edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)):
                    self.check(a.astype(dtype), bins, range=(low, low + width))
                self.check(np.repeat(edges.astype(dtype), 100), bins)

    def test_any_bins(self):
        a = self.random.normal(size=70_000)
        for bins in ([0], [0, 1], [-1, 0, 0, 0, 1], [0, 1, 1], np.sort(self.random.normal(size=500)), [-np.inf, 0, np.inf],
                     np.arange(-3, 4), np.array([-1, 0.5], "f4"), [-5, -4], [0, 1][::-1][::-1]):
            self.check(a, bins)
            self.check(np.round(a), bins)
            self.check(a.astype("f4"), bins)
            self.check((a * 3).astype(int), bins)
        self.check(a, [-2, 0, 3], density=True)
        self.check(a, 5, (-1, 1), True)  # numpy's order of arguments
        self.check(a, 5, (-1, 1), False, (a > 0).astype("i8"))

    def test_named_bins(self):
        for name in ("auto", "fd", "sqrt"):
            self.check(self.random.normal(size=3000), name)

    def test_weights(self):
        a = self.random.normal(size=70_000)
        for weights in (self.random.normal(size=70_000), self.random.normal(size=70_000).astype("f4"),
                        self.random.integers(-5, 5, 70_000), self.random.integers(0, 5, 70_000, "u1") > 2):
            for bins in (10, [-1, 0, 0.5, 2]):
                if weights.dtype != bool or bins == 10:  # numpy's differences of bools are no counts
                    self.check(a, bins, weights=weights)
        # Up to 65,536 samples numpy adds in the same order.
        expected = np.histogram(a[:60_000], 7, weights=a[60_000::-1][:60_000])[0]
        self.assertEqual(coset.histogram(a[:60_000], 7, weights=a[60_000::-1][:60_000])[0].tobytes(), expected.tobytes())

    def test_what_is_not_a_number_or_not_finite(self):
        a = np.concatenate([self.random.normal(size=50_000), [np.nan, np.inf, -np.inf, -0.0] * 5])
        self.check(a, 10, range=(-1, 1))
        self.check(a, [-1, 0, 1])
        for wrong in (a, np.array([np.nan, 1]), np.array([np.inf, 1])):
            with self.assertRaisesRegex(ValueError, "finite"):
                np.histogram(wrong)
            with self.assertRaisesRegex(ValueError, "finite"):
                coset.histogram(wrong)

    def test_extreme_ranges(self):
        for a in (np.array([1e308, -1e308, 0, 5e307]), np.array([0, 5e-324, 1e-323]), np.array([1.0, np.nextafter(1, 2)])):
            counts, edges = coset.histogram(a, [a.min(), a.max()])
            self.assertEqual(counts.sum(), len(a))
        self.check(np.full(100, 3.0))

    def test_any_shape(self):
        a = self.random.normal(size=(40, 50, 30))
        for view in (a, a.T, a[::2, :, 3], a[0, 0, ::-2], a.astype(">f4")):
            self.check(view)
            self.check(view, weights=np.ones(view.shape))
        self.check([[1, 2], [3, 4]], 2)
        self.check(5)

    def test_what_is_refused(self):
        for a in (np.zeros(3, "f2"), np.zeros(3, "g"), np.zeros(3, complex), np.zeros(3, object), ["a"]):
            with self.assertRaisesRegex(coset.ArgumentError, "a has elements of"):
                coset.histogram(a)
        with self.assertRaisesRegex(coset.ArgumentError, "weights has elements of complex128"):
            coset.histogram([1.0], weights=[1j])
        with self.assertRaisesRegex(ValueError, "another shape"):
            coset.histogram([1.0, 2], weights=[1])
        for bins, range_ in ((0, None), (-1, None), ([2, 1], None), (10, (1, 0)), ([[1]], None)):
            with self.assertRaises(ValueError):
                np.histogram([1.0], bins, range_)
            with self.assertRaises(ValueError):
                coset.histogram([1.0], bins, range_)
        with self.assertRaises(TypeError):
            coset.histogram([1.0], 2.5)


if __name__ == "__main__":
    unittest.main()
