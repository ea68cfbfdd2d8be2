#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
import unittest
from unittest import mock

import surfaces


class Surfaces(unittest.TestCase):
    def test_have_every_verb_or_a_reason(self):
        self.assertEqual(surfaces.main(), 0)

    def test_need_reasons_for_what_is_missing_alone(self):
        without = dict(surfaces.WHY_NOT)
        del without["reduce_shared", "Python"]
        with mock.patch.object(surfaces, "WHY_NOT", without):
            self.assertEqual(surfaces.main(), 1)
        with mock.patch.dict(surfaces.WHY_NOT, {("allreduce", "Fortran"): "none"}):
            self.assertEqual(surfaces.main(), 1)

    def test_know_what_mpi_has(self):
        self.assertNotIn("reduce_shared", surfaces.has_mpi())
        self.assertIn("broadcast", surfaces.has_mpi())


if __name__ == "__main__":
    unittest.main()
