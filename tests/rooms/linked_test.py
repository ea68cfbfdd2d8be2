#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: linked_test.py BUILD"""
import sys
import unittest

import linked


class Linked(unittest.TestCase):
    ORDER = ["upper", "lower"]

    def upwards(self, defined, needed):
        return linked.upwards(linked.arrows(defined, needed), self.ORDER)

    def test_who_needs_what_is_above_it_is_found(self):
        self.assertEqual(self.upwards({"f": {"upper"}}, {("lower", "f"): "a.o"}), {("lower", "upper"): [("f", "a.o")]})

    def test_what_leads_down_is_fine(self):
        self.assertEqual(self.upwards({"f": {"lower"}}, {("upper", "f"): "a.o"}), {})

    def test_what_several_rooms_have_is_of_none_of_them(self):
        self.assertEqual(self.upwards({"f": {"upper", "lower"}}, {("lower", "f"): "a.o"}), {})

    def test_the_build_has_no_arrow_upwards(self):
        self.assertEqual(linked.main(BUILD), 0)


if __name__ == "__main__":
    BUILD = sys.argv.pop()
    unittest.main()
