#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That rooms.py sees an include turned round, a circle and a foreign header beside its wall; and that none is there."""
import unittest

import rooms

LIST = """
# a comment
upper: src/upper   middle public
middle: src/middle  lower public | hwloc
lower: src/lower   public
public: include/coset
"""


class Rooms(unittest.TestCase):
    def setUp(self):
        self.rooms = rooms.rooms_in(LIST)

    def wrong(self, room, text):
        return list(rooms.wrong_includes(self.rooms, self.rooms[room], text))

    def test_includes_along_the_arrows_are_fine(self):
        self.assertEqual(self.wrong("upper", '#include "middle/a.hpp"\n#include "upper/b.hpp"\n#include <vector>\n'), [])
        self.assertEqual(self.wrong("lower", '#include "coset/error.hpp"\n#include "alone.hpp"\n'), [])

    def test_an_include_turned_round_is_named(self):
        self.assertEqual(self.wrong("lower", '#include "middle/a.hpp"\n'),
                         ['includes "middle/a.hpp": no arrow leads from lower to middle'])
        self.assertEqual(len(self.wrong("public", '# include "lower/a.hpp"\n')), 1)

    def test_a_path_upwards_hides_no_room(self):
        self.assertEqual(len(self.wrong("lower", '#include "../middle/a.hpp"\n')), 1)

    def test_an_arrow_that_skips_rooms_has_to_be_listed(self):
        self.assertEqual(len(self.wrong("upper", '#include "lower/a.hpp"\n')), 1)

    def test_foreign_headers_stay_behind_their_wall(self):
        for header in ("<hwloc.h>", "<hwloc/helper.h>", '"hwloc.h"'):
            self.assertEqual(self.wrong("middle", f"#include {header}\n"), [])
            self.assertEqual(len(self.wrong("lower", f"#include {header}\n")), 1, header)

    def test_what_a_program_writes_is_not_included(self):
        self.assertEqual(self.wrong("lower", 'auto const text = R"c(\n#include <hwloc.h>\n)c";\n'), [])

    def test_circles_cannot_be_said(self):
        for wrong in ("a: src/a b\nb: src/b a\n", "a: src/a a\n", "a: src/a nobody\n"):
            with self.assertRaises(ValueError):
                rooms.rooms_in(wrong)

    def test_the_picture_has_a_room_above_all_that_it_includes(self):
        self.assertEqual(rooms.picture(self.rooms), "```\nupper\nmiddle\nlower\npublic\n```\n")

    def test_the_project_is_as_listed(self):
        self.assertEqual(rooms.main([]), 0)


if __name__ == "__main__":
    unittest.main()
