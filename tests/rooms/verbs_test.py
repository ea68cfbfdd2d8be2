#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
import unittest

import verbs


class Verbs(unittest.TestCase):
    NAMES = ["allreduce", "scan"]

    def test_are_those_of_the_enum(self):
        names = verbs.verbs()
        self.assertIn("reduce_scatter", names)
        self.assertEqual(names[0], "allreduce")
        self.assertEqual(len(names), len(set(names)))

    def test_are_mentioned_however_they_are_spelt(self):
        self.assertEqual(verbs.mentions("f(verb::scan, coset::verb::allreduce);  // verb::scan", self.NAMES), 2)
        self.assertEqual(verbs.mentions("using enum coset::verb;", self.NAMES), 2)
        self.assertEqual(verbs.mentions("verb::scanner, interverb::scan, all_verbs()", self.NAMES), 0)

    def test_are_known_to_few(self):
        self.assertEqual(verbs.main(), 0)

    def test_own_files_are_there(self):
        for path in verbs.OWN:
            self.assertTrue((verbs.PROJECT / path).is_file(), path)


if __name__ == "__main__":
    unittest.main()
