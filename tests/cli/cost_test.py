#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coset cost: the papers' comparisons, and on machines and trees.

    cost_test.py COSET [unittest's arguments]
"""
import json
import pathlib
import unittest

from command import SMALL, Files, coset


class Cost(unittest.TestCase):
    def test_candidates_come_fastest_first_and_keep_what_was_asked(self):
        rows = [line.split() for line in coset("cost", "-r", 12, "-b", "64K").stdout.splitlines()[2:-1]]
        times = [float(row[0]) for row in rows]
        self.assertEqual(times, sorted(times))
        self.assertEqual(rows[0][1], "1.00")
        self.assertEqual({row[5] for row in rows}, {"same"})
        free = coset("cost", "-r", 12, "-b", "64K", "--per-rank-bits").stdout
        self.assertIn("differ", free)
        ordered = coset("cost", "-r", 12, "-b", "64K", "--ordered").stdout.splitlines()[2:-1]
        self.assertEqual({line.split()[6] for line in ordered}, {"yes"})

    def test_nodes_add_what_goes_node_by_node_and_the_load_of_their_links(self):
        result = coset("cost", "--nodes", "5,2,4", "-b", "64K")
        rows = [line.split() for line in result.stdout.splitlines()[2:-1]]
        links = {row[8]: row[5] for row in rows}
        for parameters in ("leaders=0,nodes=5+2+4,radix=2", "leaders=1,nodes=5+2+4,radix=2", "leaders=1,nodes=5+2+4,radix=3"):
            self.assertEqual(links[f"two_level({parameters},saved_steps=0)"], "4/3")
        self.assertEqual(links["two_level(leaders=1,nodes=5+2+4,radix=3,saved_steps=1)"], "2")
        self.assertEqual(links["ring(ordered=0)"], "20/11")
        self.assertEqual(links["direct(saved_steps=0)"], "60/11")  # 2 · 5 ranks read 1/11 of 6 others' vectors
        same = coset("cost", "--nodes", "5,2,4", "-b", "64K", "-r", 11)
        self.assertEqual((same.returncode, same.stdout), (0, result.stdout))
        for hint, arguments in [
            ("hold 11 ranks, not 9", ["--nodes", "5,2,4", "-r", 9]),
            ("not a whole number", ["--nodes", "5,0"]),
            ("excludes", ["--nodes", "5,2", "--topology", "core:8 pu:1"]),
            ("excludes", ["--nodes", "5,2", "--figure", 7]),
        ]:
            refused = coset("cost", *arguments)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), arguments)
            self.assertIn(hint, refused.stderr, arguments)

    def test_the_model_confirms_what_the_paper_claims(self):
        for ratio in self.figure(1):
            self.assertLessEqual(max(ratio[1:]), 1.0005, ratio)
        for _, estimated, best, usual, halving in self.figure(7):
            self.assertLessEqual(best, min(estimated, usual, halving))
        for _, bandwidth, latency, best in self.figure(10):
            self.assertLessEqual(best, min(bandwidth, latency))
        for ranks, _, best, *_, doubling, ring in [] if SMALL else self.figure(11):
            self.assertTrue(best < doubling if ranks & (ranks - 1) else best <= doubling, ranks)
        for figure in (8,) if SMALL else (8, 9, 12):
            self.assertGreater(len(self.figure(figure)), 7)

    def figure(self, number):
        title, head, *rows = coset("cost", "--figure", number).stdout.splitlines()
        return [[int(row.split()[0]), *map(float, row.split()[1:])] for row in rows]


class CostOnAMachine(Files):
    """Volumes are small whole numbers of vectors where nodes are equal, so they are checked by hand."""

    def costs(self, machine, *arguments):
        result = coset("cost", "--topology", machine, "-b", "1M", "--json", *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        found = json.loads(result.stdout)
        self.by_name = {candidate["algorithm"]: candidate for candidate in found["candidates"]}
        return found

    def traffic(self, algorithm):
        return {at["level"]: (at["all"], at["largest"]) for at in self.by_name[algorithm]["traffic"]}

    def test_two_level_plans_read_the_least_between_equal_nodes(self):
        found = self.costs("pack:2 node:1 l3:2 core:3 pu:2")
        self.assertEqual([level["level"] for level in found["levels"]], ["l3", "node", "machine"])
        self.assertEqual((found["ranks"], found["between_nodes"]["ranks"]), (12, [6, 6]))
        self.assertEqual(found["between_nodes"]["least"], "2")
        self.assertEqual(found["between_nodes"]["flat"], self.by_name["direct(saved_steps=0)"]["between_nodes"])
        # Reduce-scatter and allgather of threes, pairs of a third, pairs of a sixth.
        product = self.traffic("product(dims=3x2x2,saved_steps=0)")
        self.assertEqual(product, {"l3": ("16", "4/3"), "node": ("4", "1/3"), "machine": ("2", "1/6")})
        self.assertEqual(self.traffic("direct(saved_steps=0)")["machine"], ("12", "1"))
        best = found["candidates"][0]
        self.assertEqual(best["between_nodes"], "2")
        self.assertEqual(best["traffic"][-1]["all_bytes"], 2 << 20)

    def test_scattered_ranks_have_their_traffic_where_they_are(self):
        compact = self.costs("node:2 core:2 pu:1") and self.traffic("recursive_doubling")
        scatter = self.costs("node:2 core:2 pu:1", "--place", "scatter") and self.traffic("recursive_doubling")
        self.assertEqual(compact, scatter)  # one step each way, whichever comes first
        self.assertEqual(self.traffic("ring(ordered=0)")["package"], ("6", "3/2"))  # every neighbour is across
        self.assertFalse(any("nodes=" in name for name in self.by_name))
        self.costs("node:2 core:2 pu:1")
        self.assertEqual(self.traffic("ring(ordered=0)")["package"], ("3", "3/4"))  # there and back go opposite ways

    def test_unequal_nodes_get_plans_of_their_own(self):
        found = self.costs("node:3 core:4 pu:1", "-r", 10)
        self.assertEqual(found["between_nodes"]["ranks"], [4, 4, 2])
        self.assertEqual(self.by_name["unequal(nodes=4+4+2,radix=2,saved_steps=0)"]["between_nodes"], "4")
        self.assertIn("flexreduce(nodes=4+4+2)", self.by_name)
        for leaders in (0, 1):
            least = f"two_level(leaders={leaders},nodes=4+4+2,radix=3,saved_steps=0)"
            self.assertEqual((self.by_name[least]["between_nodes"], self.by_name[least]["steps"]), ("4", 4))
            fastest = f"two_level(leaders={leaders},nodes=4+4+2,radix=3,saved_steps=1)"
            self.assertEqual((self.by_name[fastest]["between_nodes"], self.by_name[fastest]["steps"]), ("6", 3))
        self.assertEqual(found["between_nodes"]["flat"], "64/5")
        self.assertEqual(self.by_name["direct(saved_steps=0)"]["between_nodes"], "64/5")

    def test_hardware_threads_of_a_core_are_a_level(self):
        found = self.costs("node:2 core:2 pu:2", "-r", 8)
        self.assertEqual(found["levels"][0]["level"], "core")
        self.assertIn("product(dims=2x2x2,saved_steps=0)", self.by_name)

    def test_the_table_is_sorted_and_settings_change_the_times(self):
        def lines(*arguments):
            return coset("cost", "--topology", "node:2 core:4 pu:1", "-b", "64K", *arguments).stdout.splitlines()

        rows = [line.split() for line in lines() if "(" in line and line.split()[0].replace(".", "").isdigit()]
        times = [float(row[0]) for row in rows]
        self.assertGreater(len(rows), 15)
        self.assertEqual(times, sorted(times))
        self.assertIn("2 = 2(N-1) at least", lines()[-1])
        free = [f"{at}.{what}=0" for at in ("node", "package") for what in ("alpha", "lambda", "beta", "link")]
        cheap = lines(*[word for setting in free for word in ("--set", setting)], "--gamma", 0)
        self.assertEqual({row.split()[0] for row in cheap if row.endswith(")") and "(saved" in row}, {"0.00"})

    def test_this_machine_and_files_are_machines_too(self):
        self.costs("machine", "-r", 1)
        self.assertEqual({candidate["seconds"] for candidate in self.by_name.values()}, {0.0})
        odd = pathlib.Path(__file__, "../../numa/odd.xml").resolve()
        self.assertEqual(self.costs(odd)["topology"], "odd.xml")

    def test_what_names_no_machine_or_level_is_refused(self):
        for hint, arguments in [
            ("gibberish", ["--topology", "gibberish"]),
            ("/nowhere.xml", ["--topology", "/nowhere.xml"]),
            ("9 ranks do not fit", ["--topology", "core:8 pu:1", "-r", 9]),
            ("from 1 to", ["--topology", "core:8 pu:1", "-r", 0]),
            ("LEVEL.PARAMETER", ["--topology", "core:8 pu:1", "--set", "l4.beta=1"]),
            ("LEVEL.PARAMETER", ["--topology", "core:8 pu:1", "--set", "l3.gamma=1"]),
            *(("LEVEL.PARAMETER", ["--topology", "core:8 pu:1", "--set", f"l3.beta={wrong}"])
              for wrong in ("-1", "nan", "inf", "1e400", "1e10", "", "1s")),
            ("--alpha", ["--topology", "core:8 pu:1", "--alpha", "1"]),
            ("--topology", ["--place", "scatter"]),
        ]:
            result = coset("cost", *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
            self.assertIn(hint, result.stderr, arguments)


if __name__ == "__main__":
    unittest.main()
