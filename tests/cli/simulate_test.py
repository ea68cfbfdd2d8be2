#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coset simulate: caches of machines that are described.

    simulate_test.py COSET [unittest's arguments]
"""
import json
import unittest

from command import Files, coset

PACKAGES = "package:2 numa:1 l3:1 core:4 pu:1"


def simulate(*arguments):
    result = coset("simulate", *arguments, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["machines"]


class Simulate(Files):
    def test_the_chosen_plan_stands_beside_others_fastest_first(self):
        machines = simulate("allreduce", 8, "4K", "64K", "--topology", PACKAGES, "--topology", "core:5 pu:1", "--considered", 3)
        self.assertEqual([m["ranks"] for m in machines], [8, 5])
        for machine in machines:
            self.assertEqual([size["bytes"] for size in machine["sizes"]], [8, 4096, 65536])
            for size in machine["sizes"]:
                plans = {row["plan"]: row for row in size["plans"]}
                self.assertEqual(len(plans), len(size["plans"]))
                seconds = [row["seconds"] for row in size["plans"]]
                self.assertEqual(seconds, sorted(seconds))
                self.assertGreater(seconds[0], 0)
                chosen, = (row for row in size["plans"] if row["by"] == "chosen")
                self.assertGreater(chosen["model_seconds"], 0)
                self.assertLessEqual({"barriers", "binomial/staged", "direct/staged", "direct/zero_copy"}, plans.keys())

    def test_guidelines_hold_verbs_against_what_gives_more(self):
        asked = ["64K", "8", "--guidelines", "--topology", "core:4 pu:1", "--ranks", 3]
        found = json.loads(coset("simulate", "all", *asked, "--json").stdout)
        rows = found["rows"]
        than = {row["than"] for row in rows if (row["verb"], row["bytes"]) == ("reduce", 8)}
        self.assertEqual(than, {"allreduce", "reduce_scatter + gather", "itself of 64 KiB", "itself on 4 ranks"})
        self.assertEqual(found["of"], len(rows))
        self.assertEqual(found["within"], sum(row["ratio"] <= found["limit"] for row in rows))
        seconds = {}
        for verb in ("reduce", "allreduce"):
            machine, = simulate(verb, "64K", *asked[3:], "--considered", 0)
            seconds[verb], = (plan["seconds"] for plan in machine["sizes"][0]["plans"] if plan["chosen"])
        beside, = (row["ratio"] for row in rows if (row["verb"], row["bytes"], row["than"]) == ("reduce", 65536, "allreduce"))
        self.assertAlmostEqual(beside, seconds["reduce"] / seconds["allreduce"])
        self.assertIn(f"{found['within']} of {len(rows)} cells within", coset("simulate", "all", *asked).stdout)

    def test_guidelines_of_shared_arrays_are_refused(self):
        refused = coset("simulate", "reduce_shared", "8", "--guidelines", "--topology", "core:4 pu:1")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("not simulated", refused.stderr)

    def test_the_chosen_plan_is_told_where_it_is_named_too(self):
        said = json.loads(coset("why", "gather", "1K", "--topology", "core:32 pu:1", "--json").stdout)["chosen"]
        asked = ["gather", "1K", "--topology", "core:32 pu:1", "--plan", f"{said['algorithm']}/{said['storage']}"]
        plans = json.loads(coset("simulate", *asked, "--json").stdout)["machines"][0]["sizes"][0]["plans"]
        self.assertEqual([row["by"] for row in plans if row["chosen"]], ["named"])
        self.assertIn(asked[-1], coset("simulate", *asked).stdout)

    def test_the_chosen_plan_is_what_why_says(self):
        for size in (8, "64K", "1M"):
            said = json.loads(coset("why", "allreduce", size, "--topology", PACKAGES, "--json").stdout)["chosen"]
            machine, = simulate("allreduce", size, "--topology", PACKAGES, "--considered", 0)
            chosen, = (row for row in machine["sizes"][0]["plans"] if row["by"] == "chosen")
            self.assertEqual(chosen["plan"], f"{said['algorithm']}/{said['storage']}")
            self.assertEqual(chosen["model_seconds"], said["seconds"])

    def test_two_runs_are_equal_and_costs_matter(self):
        ask = ["allreduce", "64K", "--topology", PACKAGES]
        first = simulate(*ask)
        self.assertEqual(simulate(*ask), first)
        file = self.file({"machine.read": 2e-6, "machine.own": 2e-6})
        slower = simulate(*ask, "--costs", file)[0]["sizes"][0]["plans"]
        self.assertGreater(slower[0]["seconds"], first[0]["sizes"][0]["plans"][0]["seconds"])
        self.assertEqual(simulate(*ask, "--costs", file, "--set", "machine.read=2e-7", "--set", "machine.own=2e-7"), first)

    def test_every_verb_and_plan(self):
        for verb in ("reduce", "broadcast", "reduce_scatter", "allgather", "scan", "exclusive_scan", "barrier", "gather", "scatter",
                     "all_to_all"):
            machine, = simulate(verb, "1K", "--topology", "core:6 pu:1", "--timing", "call")
            self.assertIn("chosen", [row["by"] for row in machine["sizes"][0]["plans"]], verb)
            in_place, = simulate(verb, "64K", "--topology", "core:6 pu:1", "--in-place", "--considered", 0)
            self.assertIn("chosen", [row["by"] for row in in_place["sizes"][0]["plans"]], verb)
        machine, = simulate("allreduce", 64, "--topology", "core:6 pu:1", "--plan", "ring/staged", "--in-place")
        self.assertIn(("ring/staged", "named"), [(row["plan"], row["by"]) for row in machine["sizes"][0]["plans"]])

    def test_the_table_has_a_line_for_each_size(self):
        lines = coset("simulate", "allreduce", 8, "1K", "--topology", "core:4 pu:1").stdout.splitlines()
        self.assertEqual(len(lines), 5)
        self.assertEqual(lines[0], "allreduce on 4 ranks of core:4 pu:1, compact; cycle")
        every = coset("simulate", "allreduce", 8, "--topology", "core:4 pu:1", "--all").stdout
        self.assertIn("by hand", every)

    def test_what_cannot_be_simulated_says_why(self):
        machine = ["--topology", "core:4 pu:1"]
        for arguments, said in ((["allreduce", 8, *machine, "--plan", "direct/staged/4K"], "segments"),
                                (["allreduce", 8, *machine, "--plan", "direct"], "direct/staged"),
                                (["allreduce", 8, *machine, "--plan", "recursive/staged"], "recursive"),
                                (["allreduce", 8, *machine, "--set", "l4.read=1"], "l4.read"),
                                (["allreduce", 8, *machine, "--set", "l3.read"], "l3.read"),
                                (["allreduce", 8, *machine, "--set", "l3.link=0"], "l3.link"),
                                (["allreduce", 8, *machine, "--costs", "/nowhere"], "/nowhere"),
                                (["allreduce", 8, *machine, "--costs", self.file({"looks": "many"})], "looks"),
                                (["reduce_shared", 8, *machine], "reduce_shared"),
                                (["allreduce", 8, *machine, "--ranks", 8], "turns"),
                                (["allreduce", 8, "--topology", "core:2048 pu:1"], "1024"),
                                (["allreduce", "1X", *machine], "1X")):
            result = coset("simulate", *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
            self.assertIn(said, result.stderr)


if __name__ == "__main__":
    unittest.main()
