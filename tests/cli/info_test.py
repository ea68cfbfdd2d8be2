#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coset info: where ranks go, and what of the environment is read.

    info_test.py COSET [unittest's arguments]
"""
import json
import os
import pathlib
import re
import subprocess
import unittest

from command import COSET, Files, coset, needs_lab


class InfoOfPlacement(Files):
    def placement(self, *arguments):
        result = coset("info", "--json", *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)

    def test_ranks_go_node_after_node_or_over_the_nodes_in_turn(self):
        machine = ["--topology", "pack:2 node:1 l3:2 core:2 pu:2", "-r", 6]
        compact, scatter = self.placement(*machine), self.placement(*machine, "--place", "scatter")
        self.assertEqual([rank["node"] for rank in compact["placement"]], [0, 0, 0, 0, 1, 1])
        self.assertEqual([rank["node"] for rank in scatter["placement"]], [0, 1, 0, 1, 0, 1])
        self.assertEqual([rank["l3"] for rank in compact["placement"]], [0, 0, 1, 1, 2, 2])
        self.assertEqual([rank["processor"] for rank in compact["placement"]], [0, 2, 4, 6, 8, 10])
        self.assertEqual(compact["placement"][5], {"rank": 5, "processor": 10, "core": 5, "l3": 2, "node": 1, "package": 1, "kind": 0})
        self.assertEqual(list(compact["tree"][1]["nodes"][0]["l3s"][0]["cores"][1].values()), [5, [5]])
        self.assertNotIn("latency_ns", compact)

    def test_other_machines_are_shown_as_table_and_tree_and_not_measured(self):
        text = coset("info", "--topology", "node:2 core:64 pu:1").stdout
        self.assertIn(["127", "127", "127", "1", "0", "0"], [line.split() for line in text.splitlines()])
        self.assertIn("    cores 0-127, 64 in each: ranks 0-127\n", text)
        for absent in ("latency", "L3", "left out"):
            self.assertNotIn(absent, text)
        odd = pathlib.Path(__file__, "../../numa/odd.xml").resolve()
        text = coset("info", "--topology", odd).stdout
        self.assertIn("a team of", text)
        self.assertRegex(text, "cache lines of 512 bytes; words of different threads are [0-9]+ apart\nwarning: cache lines of 512")
        self.assertEqual(json.loads(coset("info", "--topology", odd, "--json").stdout)["line_bytes"], 512)

    def test_another_machine_in_the_place_of_this_one_is_shown_and_not_measured(self):
        odd = str(pathlib.Path(__file__, "../../numa/odd.xml").resolve())
        for name, value, cores in (("HWLOC_SYNTHETIC", "node:2 core:64 pu:1", 128), ("HWLOC_XMLFILE", odd, 6)):
            def run(*arguments):
                return subprocess.run([COSET, *arguments], capture_output=True, text=True, timeout=120, check=False,
                                      env={**os.environ, name: value})

            text = run("info")
            self.assertEqual((text.returncode, text.stderr), (0, ""))
            self.assertIn(f"a team of {cores} ranks", text.stdout)
            self.assertRegex(text.stdout, f"left out: caches, .*latencies.*{name} describes another\n$")
            found = json.loads(run("info", "--json").stdout)
            self.assertEqual(found["cores"], cores)
            self.assertIn(name, found["left_out"])
            self.assertNotIn("latency_ns", found)
            for command in ("tune", "bench"):
                refused = run(command)
                self.assertIn(f"{name} describes another machine", refused.stderr)
                self.assertEqual((refused.returncode, refused.stdout), (2, ""), command)

    @needs_lab
    def test_a_description_that_crashes_hwloc_is_an_error(self):
        """hwloc 2.9 follows a null pointer where one of these attributes is missing."""
        odd = pathlib.Path(__file__, "../../numa/odd.xml").resolve().read_text(encoding="utf-8")
        path = os.path.join(self.folder, "mutated.xml")
        missing = list(re.finditer(r' complete_(cpu|node)set="[^"]*"', odd))
        for at in missing[:: len(missing) // 5]:
            with open(path, "w", encoding="utf-8") as out:
                out.write(odd[: at.start()] + odd[at.end() :])
            for command, setting in ((["info", "--topology", path], {}), (["info"], {"HWLOC_XMLFILE": path}),
                                     (["cost", "--topology", path], {}), (["why", "allreduce", "8"], {"HWLOC_XMLFILE": path})):
                run = subprocess.run([COSET, *command], capture_output=True, text=True, timeout=120, check=False,
                                     env={**os.environ, **setting})
                if run.returncode == 0:
                    continue  # another hwloc
                self.assertEqual((run.returncode, run.stdout), (2, ""), (at[0], command))
                self.assertIn("HWLOC_XMLFILE" if setting else path, run.stderr)
                self.assertIn("hwloc crashes or does not end as it reads", run.stderr)

    def test_a_team_larger_than_the_mask_is_warned_of(self):
        one = min(os.sched_getaffinity(0))
        run = subprocess.run([COSET, "info", "-r", "2", "--json"], capture_output=True, text=True, timeout=120,
                             check=True, preexec_fn=lambda: os.sched_setaffinity(0, {one}))
        found = json.loads(run.stdout)
        self.assertEqual(found["team"], [one, one])
        self.assertTrue(any("let only 1 of 2 ranks run at a time" in warning for warning in found["warnings"]), found["warnings"])
        self.assertTrue(any("ranks 0-1 on core 0" in warning for warning in found["warnings"]), found["warnings"])

    def test_ranks_that_are_not_pinned_are_warned_of(self):
        for wish, expected in (("no", True), ("yes", False)):
            run = subprocess.run([COSET, "info", "-r", "1"], capture_output=True, text=True, timeout=120, check=True,
                                 env={**os.environ, "COSET_BIND": wish})
            self.assertEqual("warning: ranks are not pinned" in run.stdout, expected)

    def test_ranks_that_outnumber_processors_share_them(self):
        result = coset("info", "--topology", "core:2 pu:1", "-r", 4, "--json")
        self.assertEqual([each["processor"] for each in json.loads(result.stdout)["placement"]], [0, 0, 1, 1])
        result = coset("info", "--topology", "core:2 pu:1", "-r", 33)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("at most 32", result.stderr)


class InfoOfSettings(unittest.TestCase):
    def run_with(self, *arguments, **settings):
        return subprocess.run([COSET, "info", "-r", "3", *arguments], capture_output=True, text=True, timeout=120,
                              env={**os.environ, **settings})

    def test_plans_that_are_passed_over_are_shown_with_variable_and_reason(self):
        lossy = {"COSET_ALLREDUCE": "direct(saved_steps=1)/output", "COSET_REDUCE": "ring"}
        found = json.loads(self.run_with("--json", **lossy).stdout)["plans_passed_over"]
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith("COSET_ALLREDUCE, direct(saved_steps=1)/output: "), found)
        self.assertIn(f"passed over: {found[0]}\n", self.run_with(**lossy).stdout)
        self.assertEqual(json.loads(self.run_with("--json").stdout)["plans_passed_over"], [])

    def test_settings_that_nothing_reads_are_named_and_senseless_ones_refused(self):
        result = self.run_with(COSET_ALREDUCE="ring", COSET_LOG="plans")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(len(result.stderr.splitlines()), 2, result.stderr)
        self.assertIn("COSET_ALREDUCE is not a variable that coset reads; COSET_ALLREDUCE is", result.stderr)
        self.assertIn("COSET_LOG=plans", result.stderr)
        result = self.run_with(COSET_ALLREDUCE="generalized(radix=0)")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("COSET_ALLREDUCE: in 'generalized(radix=0)'", result.stderr)

    def test_variables_are_shown_with_what_they_are_set_to(self):
        shown = self.run_with("--environment", COSET_BIND="no", COSET_LOG="")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertIn("\nCOSET_BIND=no\n    Whether ranks are pinned", shown.stdout)
        self.assertIn("\nCOSET_LOG\n", shown.stdout)
        found = json.loads(self.run_with("--environment", "--json", COSET_BIND="no").stdout)
        self.assertEqual({v["name"]: v["value"] for v in found}["COSET_BIND"], "no")


if __name__ == "__main__":
    unittest.main()
