#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: linked_test.py BUILD"""
import pathlib
import sys
import tempfile
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

    def test_objects_of_what_has_moved_do_not_count(self):
        with tempfile.TemporaryDirectory() as name:
            build = pathlib.Path(name)
            for source in ("src/team/team.cpp", "src/runtime/team.cpp", "src/team/made.cpp", "src/team/Unity/unity_0_cxx.cxx"):
                file = build / f"CMakeFiles/coset.dir/{source}.o"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch()
            (build / "src/team").mkdir(parents=True)
            (build / "src/team/made.cpp").touch()
            self.assertEqual([file.name for _, file in linked.objects(build)],
                             ["unity_0_cxx.cxx.o", "made.cpp.o", "team.cpp.o"])

    def test_the_build_has_no_arrow_upwards(self):
        self.assertEqual(linked.main(BUILD), 0)


if __name__ == "__main__":
    BUILD = sys.argv.pop()
    unittest.main()
