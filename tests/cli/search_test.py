#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coset search: the cheapest chain, as users see it.

    search_test.py COSET [unittest's arguments]
"""
import json
import re
import tempfile
import unittest

from command import coset


def searched(*arguments):
    result = coset("search", "--json", "--quiet", *arguments)
    return json.loads(result.stdout)


class Search(unittest.TestCase):
    def test_what_is_found_is_an_algorithm_that_holds(self):
        for arguments, ranks in [
            (["-r", 6, "--model", "ring"], 6),
            (["-r", 13], 13),
            (["--model", "torus:4x3"], 12),
            (["--topology", "node:2 core:4 pu:1"], 8),
            (["--topology", "node:2 core:4 pu:1", "--place", "scatter", "-r", 6, "--set", "machine.beta=1e-8"], 6),
            (["-r", 10, "--group", "5x2,d10", "--model", "ring"], 10),
        ]:
            found = searched(*arguments)
            self.assertEqual(found["ranks"], ranks)
            self.assertTrue(found["proved_to_most_steps"], arguments)
            self.assertEqual(coset("plan", "--plan", found["algorithm"], "-r", ranks, "--check").returncode, 0)

    def test_its_time_is_that_of_the_schedule(self):
        found = searched("-r", 22, "-b", "64K", "--alpha", "1e-6", "--beta", "1e-9", "--gamma", "0")
        self.assertAlmostEqual(found["seconds"], 10 * 1e-6 + 2 * 21 / 22 * 65536 * 1e-9)
        self.assertEqual(found["algorithm"], "fold(group=cyclic,shifts=11+6+3+2+1)")

    def test_the_fields_own_ring_is_priced_whatever_its_length(self):
        found = searched("-r", 9, "--model", "ring", "-b", "16M")
        self.assertEqual(found["algorithm"], "fold(group=cyclic,shifts=1+1+1+1+1+1+1+1)")
        self.assertAlmostEqual(found["seconds"], searched("-r", 9, "--model", "ring", "-b", "16M", "--steps", 8)["seconds"])
        self.assertTrue(found["proved_to_most_steps"])
        self.assertGreater(searched("-r", 9, "--model", "ring", "-b", "16M", "--steps", 6)["seconds"], found["seconds"])

    def test_more_steps_than_ranks_are_no_more_than_that(self):
        found = searched("-r", 4, "--model", "ring", "--steps", 4096)
        self.assertTrue(all(group["for_any_steps"] for group in found["groups"]))

    def test_one_rank_takes_no_time(self):
        self.assertEqual(searched("-r", 1)["seconds"], 0)

    def test_levels_are_folded_one_after_the_other(self):
        found = searched("--topology", "node:4 core:4 pu:1", "-b", "1M")
        self.assertEqual(found["algorithm"], "fold(group=4x4,shifts=1+2+4+8)")
        self.assertEqual([one["group"] for one in found["groups"]], ["cyclic", "dihedral", "4x4"])

    def test_rings_are_crossed_by_reflections(self):
        ring = searched("-r", 16, "--model", "ring", "--steps", 4)
        self.assertIn("group=dihedral", ring["algorithm"])
        self.assertTrue(ring["proved_to_most_steps"])
        cyclic = searched("-r", 16, "--model", "ring", "--steps", 4, "--group", "cyclic")
        self.assertLess(ring["seconds"], cyclic["seconds"])

    def test_it_stops_in_time_and_says_what_is_not_proved(self):
        found = searched("-r", 62, "--model", "ring", "--seconds", 0)
        self.assertFalse(found["proved_to_most_steps"])
        for one in found["groups"]:
            self.assertLessEqual(one["bound"], found["seconds"])
        result = coset("search", "-r", 62, "--model", "ring", "--seconds", 0)
        self.assertIn("when the time was over; none takes less than", result.stdout)
        times = [float(t) for t in re.findall(r": ([0-9.]+) us by ", result.stderr)]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertTrue(times)
        self.assertEqual(coset("search", "-r", 62, "--seconds", 0, "--quiet").stderr, "")

    def test_steps_of_several_shifts_and_saved_steps_are_looked_for_when_asked(self):
        single = searched("--topology", "node:2 core:4 pu:1", "-b", "4K")
        wide = searched("--topology", "node:2 core:4 pu:1", "-b", "4K", "--radix", 4, "--saved-steps", "--seconds", 6)
        self.assertLess(wide["seconds"], single["seconds"])
        self.assertEqual(coset("plan", "--plan", wide["algorithm"], "-r", 8, "--check").returncode, 0)
        self.assertNotIn("wide", single["groups"][0])
        self.assertGreater(wide["groups"][0]["wide"]["looked_at"], 0)
        proved = searched("-r", 5, "-b", 8, "--radix", 3, "--saved-steps", "--steps", 3)
        self.assertTrue(proved["groups"][0]["wide"]["proved"])
        self.assertIn("saved_steps=", proved["algorithm"])
        text = coset("search", "-r", 5, "--radix", 3, "--steps", 3).stdout
        self.assertIn("to radix 3: proved, none of at most 3 steps takes less", text)

    def test_a_networks_file_is_a_model(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{"torus": [4, 4], "link": {"bandwidth": 1e9}}')
            file.flush()
            named = searched("--links", file.name, "--group", "4x4", "-b", "64K", "--gamma", 0)
            torus = searched("--model", "torus:4x4", "--beta", 1e-9, "--group", "4x4", "-b", "64K", "--gamma", 0)
            self.assertLessEqual(torus["seconds"], named["seconds"] + 1e-12)  # ranks have links of their own in the file
            self.assertEqual(named["ranks"], 16)
            self.assertEqual(named["bound"]["cut"], "all ranks")
            self.assertAlmostEqual(named["bound"]["seconds"], 3e-5 + 65536 * 30 / 16 * 1e-9, 12)
            free = searched("--model", "torus:4x4", "--alpha", 0, "--beta", 1e-9, "--group", "4x4", "-b", "64K")
            self.assertEqual(free["bound"]["vectors"], "30")  # leave 16 hosts over 64 links together
            self.assertAlmostEqual(free["bound"]["seconds"], 65536 * 30 / 64 * 1e-9, 12)
            self.assertAlmostEqual(named["over_bound"], named["seconds"] / named["bound"]["seconds"], 9)
            text = coset("search", "--links", file.name, "--group", "4x4", "-b", "64K", "--quiet").stdout
            self.assertIn("\nno plan whatever takes less than 152.88 us; the cut that binds: all ranks\n", text)
            self.assertNotIn("bound", {*searched("-r", 5, "-b", 8)})

    def test_text_says_what_is_proved(self):
        self.assertIn("proved: no chain of single shifts takes less", coset("search", "-r", 8).stdout)
        self.assertIn("proved: none of at most 3 steps takes less",
                      coset("search", "-r", 8, "--group", "cyclic", "--model", "ring", "--alpha", 0, "--steps", 3).stdout)
        self.assertIn("direct", coset("search", "-r", 1).stdout)

    def test_what_cannot_be_searched_is_refused(self):
        for hint, arguments in [
            ("--ranks is required", []),
            ("--model mesh is none", ["-r", 8, "--model", "mesh"]),
            ("takes whole numbers", ["--model", "torus:4xfour"]),
            ("joins 12 ranks, not 8", ["-r", 8, "--model", "torus:4x3"]),
            ("at most 1024 ranks", ["-r", 2000]),
            ("at most 1024 ranks, not 4294967295", ["-r", 4294967295]),
            ("at most 1024 ranks, not 4294967295", ["-r", 4294967295, "--model", "ring"]),
            ("dihedral group acts on an even number", ["-r", 7, "--group", "dihedral"]),
            ("its order is not the number of ranks, 8", ["-r", 8, "--group", "4x3"]),
            ("no chain of at most 2 steps", ["-r", 8, "--steps", 2]),
            ("a dimension of no ranks", ["--model", "torus:4x0"]),
            ("--radix", ["-r", 8, "--radix", 1]),
            ("excludes", ["-r", 8, "--topology", "core:8 pu:1", "--model", "ring"]),
        ]:
            refused = coset("search", *arguments)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), arguments)
            self.assertIn(hint, refused.stderr, arguments)


if __name__ == "__main__":
    unittest.main()
