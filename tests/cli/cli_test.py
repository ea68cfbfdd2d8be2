#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The schedule commands as their users meet them: exit statuses, messages, and plans checked from outside.

    cli_test.py COSET [unittest's arguments]
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import check_plan

COSET = ""
SMALL = os.environ.get("COSET_TEST_EFFORT") == "small"
VERBS = ["allreduce", "reduce", "reduce_scatter", "allgather", "broadcast", "scan", "exclusive_scan", "barrier"]
TREE = {"tree": {"top": ["left", "right", 5], "left": [0, 3], "right": [1, 2, 4]}}


def coset(*arguments):
    return subprocess.run([COSET, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def halves(ranks):
    return (ranks + 1) // 2, ranks // 2


def needed(name, ranks):
    """Arguments for the algorithms that have no defaults."""
    dims = f"{ranks // 2}x2" if ranks % 2 == 0 else f"{ranks}"
    nodes = "+".join(str(n) for n in halves(ranks) if n)
    lists = {"product": f"dims={dims}", "blueconnect": f"dims={dims}", "tower": f"factors={dims}"}
    for by_node in ("leaders", "smp_rdb", "smp_binomial", "unequal", "two_level", "flexreduce", "tree_ring"):
        lists[by_node] = f"nodes={nodes}"
    if name == "adapted_dissemination":
        return f"{name}(n=4)"
    return f"{name}({lists[name]})" if name in lists else name


class Files(unittest.TestCase):
    """Tests that write files of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, content):
        path = os.path.join(self.folder, "tree.json")
        with open(path, "w") as out:
            json.dump(content, out)
        return path


class List(unittest.TestCase):
    def test_every_algorithm_is_listed_with_figures(self):
        names = listed()
        for expected in ("direct", "generalized", "unequal", "two_level", "binomial", "tree_ring"):
            self.assertIn(expected, names)
        for line in coset("list").stdout.splitlines()[1 : 1 + len(names)]:
            self.assertNotEqual(line.split()[1], "-", line)


def listed():
    """The names in the table: its first column, down to the legend."""
    names = []
    for line in coset("list").stdout.splitlines()[1:]:
        if line[0].isupper():
            break
        names.append(line.split()[0])
    return names


class Plan(Files):
    def test_every_plan_does_what_its_collective_requires(self):
        checked = 0
        for name in listed():
            for ranks in (3,) if SMALL else (1, 2, 3, 4, 7, 12):
                for verb in VERBS:
                    result = coset("plan", needed(name, ranks), "-r", ranks, "-c", verb, "--root", ranks // 2, "--json")
                    if result.returncode == 2:
                        self.assertIn("does not serve", result.stderr, (name, ranks, verb))
                        continue
                    with self.subTest(name=name, ranks=ranks, verb=verb):
                        check_plan.check(json.loads(result.stdout))
                        checked += 1
        self.assertGreater(checked, 80 if SMALL else 600)

    def test_a_broken_plan_does_not_pass_the_checker(self):
        plan = json.loads(coset("plan", "ring", "-r", 4, "--json").stdout)
        redirected = json.loads(json.dumps(plan))
        redirected["steps"][0][0]["from"][1][0] ^= 2
        dropped = json.loads(json.dumps(plan))
        del dropped["steps"][2][1]
        boasting = json.loads(json.dumps(plan))
        boasting["properties"]["sent_max"] = "5/4"
        check_plan.check(plan)
        for broken in (redirected, dropped, boasting):
            with self.assertRaises(check_plan.Wrong):
                check_plan.check(broken)

    def test_the_contract_is_kept_to_the_letter(self):
        plan = json.loads(coset("plan", "generalized", "-r", 7, "--saved-steps", 1, "--json").stdout)
        self.assertEqual(plan["parameters"], {"radix": 2, "saved_steps": 1})
        self.assertEqual((plan["collective"], plan["algorithm"], plan["root"], plan["ranks"]), ("allreduce", "generalized", None, 7))
        self.assertEqual(plan["blocks"][1], {"offset": "1/7", "size": "1/7"})
        self.assertEqual(list(plan["steps"][0][0]), ["rank", "block", "slot", "from"])
        self.assertEqual(plan["properties"]["steps"], 5)
        reduce = json.loads(coset("plan", "binomial", "-r", 5, "-c", "reduce", "--root", 3, "--json").stdout)
        self.assertEqual([row[0] is None for row in reduce["result"]], [True, True, True, False, True])
        self.assertEqual(reduce["root"], 3)

    def test_shorthands_say_the_same_as_parameters(self):
        for text, shorthand, ranks in [
            ("generalized(radix=4,saved_steps=1)", ["generalized", "--radix", 4, "--saved-steps", 1], 12),
            ("product(dims=4x3)", ["product", "--group", "4x3"], 12),
            ("unequal(nodes=5+2+4)", ["unequal", "--nodes", "5,2,4"], 11),
        ]:
            long, short = coset("plan", text, "-r", ranks, "--json"), coset("plan", *shorthand, "-r", ranks, "--json")
            self.assertEqual((long.returncode, long.stderr), (0, ""))
            self.assertEqual(long.stdout, short.stdout)

    def test_a_tree_file_gives_a_plan_without_contention(self):
        result = coset("plan", "tree_ring", "-r", 6, "--tree", self.file(TREE), "--check")
        self.assertIn("per direction and step: 1\n", result.stdout)
        flex = coset("plan", "flexreduce", "-r", 6, "--tree", self.file(TREE), "--json")
        check_plan.check(json.loads(flex.stdout))

    def test_pictures_are_well_formed(self):
        picture = xml.etree.ElementTree.fromstring(coset("plan", "ring", "-r", 4, "--svg").stdout)
        self.assertEqual(sum(1 for circle in picture.iter("{http://www.w3.org/2000/svg}circle")), 4 * 7)
        graph = coset("plan", "ring", "-r", 4, "--dot").stdout
        self.assertTrue(graph.startswith("digraph") and graph.count("{") == graph.count("}"))
        self.assertEqual(sum("->" in line and "dotted" not in line and "invis" not in line for line in graph.splitlines()), 4 * 6)
        text = coset("plan", "binomial", "-r", 4, "-c", "reduce").stdout
        self.assertIn("rank 0   reads 2         block 0 = {0-3}", text)

    def test_graphs_keep_the_ranks_of_each_level_in_order(self):
        graph = coset("plan", "circulant", "-t", 5, "--dot").stdout
        for level in range(7):
            line = next(line for line in graph.splitlines() if f"s{level}r0 [label" in line)
            for rank in range(4):
                self.assertIn(f"s{level}r{rank} -> s{level}r{rank + 1} [style=invis];", line)
        alone = coset("plan", "direct", "-t", 1, "--dot").stdout
        self.assertNotIn("invis", alone)

    def test_the_title_of_a_picture_fits_into_it(self):
        for ranks in range(1, 9):
            picture = xml.etree.ElementTree.fromstring(coset("plan", "generalized", "-t", ranks, "--svg").stdout)
            title = picture[0]
            self.assertIn(f"{ranks} ranks", title.text)
            self.assertGreaterEqual(int(picture.get("width")), int(title.get("x")) + 7 * len(title.text), ranks)
            rightmost = max(int(circle.get("cx")) for circle in picture.iter("{http://www.w3.org/2000/svg}circle"))
            self.assertGreaterEqual(int(picture.get("width")), rightmost + 11)

    def test_check_compares_what_a_file_states(self):
        plan = json.loads(coset("plan", "generalized", "-t", 7, "--json").stdout)
        self.assertEqual(coset("plan", self.file(plan), "--check").returncode, 0)
        for name, wrong in (("steps", 5), ("sent_max", "2"), ("combined_max", 1), ("fan_in", 2), ("rank_uniform", False),
                            ("ordered", True), ("volume_bound", None), ("beauty", 1)):
            boasting = json.loads(json.dumps(plan))
            boasting["properties"][name] = wrong
            path = self.file(boasting)
            result = coset("plan", path, "--check")
            self.assertEqual((result.returncode, result.stdout), (1, ""), name)
            self.assertRegex(result.stderr, f'^wrong: in the properties, "?{name}"? is {json.dumps(wrong)}, and')
            self.assertEqual(coset("plan", path, "--text").returncode, 0, "only the plan itself is proved then")
        del plan["properties"]
        self.assertIn("valid: 6 steps", coset("plan", self.file(plan), "--check").stdout)

    def test_check_reports_what_it_proved(self):
        result = coset("plan", "direct", "-r", 5, "--check")
        self.assertEqual(result.returncode, 0)
        self.assertIn("valid: 2 steps", result.stdout)
        beside = coset("plan", "direct", "-r", 5, "--check", "--json")
        check_plan.check(json.loads(beside.stdout))
        self.assertIn("valid", beside.stderr)


    def test_a_plan_in_a_file_is_shown_as_the_algorithm_is(self):
        made = coset("plan", "generalized(saved_steps=1)", "-r", 7, "-c", "reduce", "--root", 3, "--json").stdout
        path = self.file(json.loads(made))
        for form in ("--json", "--text", "--dot", "--svg", "--check"):
            again = coset("plan", path, form)
            self.assertEqual((again.returncode, again.stderr), (0, ""))
            self.assertEqual(again.stdout, coset("plan", "generalized(saved_steps=1)", "-r", 7, "-c", "reduce", "--root", 3, form).stdout)

    def test_a_wrong_plan_in_a_file_is_told_from_no_plan(self):
        plan = json.loads(coset("plan", "ring", "-r", 4, "--json").stdout)
        plan["steps"][0][0]["from"][1][0] ^= 2
        for form in ("--json", "--text", "--check"):
            result = coset("plan", self.file(plan), form)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn("wrong: step", result.stderr)
        del plan["ranks"]
        result = coset("plan", self.file(plan), "--check")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("is no plan: ranks is missing", result.stderr)

    def test_pictures_of_a_plan_in_a_file_are_well_formed_whatever_it_is_called(self):
        plan = json.loads(coset("plan", "ring", "-r", 2, "--json").stdout)
        plan["parameters"]["tree"] = '<"&>'
        picture = xml.etree.ElementTree.fromstring(coset("plan", self.file(plan), "--svg").stdout)
        self.assertIn('tree=<"&>', picture[0].text)
        self.assertIn('tree=<\\"&>', coset("plan", self.file(plan), "--dot").stdout)


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
            ("no whole number", ["--nodes", "5,0"]),
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
        free = [f"{at}.{what}=0" for at in ("node", "package") for what in ("alpha", "lambda", "beta")]
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
        self.assertIn("a team of", coset("info", "--topology", odd).stdout)

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
                if "Not in this build" not in coset("--help").stdout:
                    self.assertIn(f"{name} describes another machine", refused.stderr)
                self.assertEqual((refused.returncode, refused.stdout), (2, ""), command)

    def test_a_team_larger_than_the_mask_is_warned_of(self):
        one = min(os.sched_getaffinity(0))
        run = subprocess.run([COSET, "info", "-r", "2", "--json"], capture_output=True, text=True, timeout=120,
                             check=True, preexec_fn=lambda: os.sched_setaffinity(0, {one}))
        found = json.loads(run.stdout)
        self.assertEqual(found["team"], [one, one])
        self.assertTrue(any("leave 1 at a time to 2 ranks" in warning for warning in found["warnings"]), found["warnings"])
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
        self.assertIn("COSET_ALREDUCE is no variable that is read; COSET_ALLREDUCE is", result.stderr)
        self.assertIn("COSET_LOG=plans", result.stderr)
        result = self.run_with(COSET_ALLREDUCE="generalized(radix=0)")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("COSET_ALLREDUCE: in 'generalized(radix=0)'", result.stderr)


class Numbers(Files):
    """Every option of every command that takes a number, as --help lists them."""

    NEEDED = {"plan": ["ring", "-t", "4"], "generate": ["tree_ring"]}

    def options(self, command):
        """Names of options and whether they take fractions too."""
        for line in coset(command, "--help").stdout.splitlines():
            words = line.replace(" ...", "").split()
            names = [name for name in (words[0].split(",") if words else []) if name.startswith("-")]
            type_name = words[1].split("=")[0] if len(words) > 1 else ""
            if names and type_name in ("UINT", "INT", "FLOAT"):
                yield names, type_name == "FLOAT"
        if command == "plan":
            yield from ((["--radix"], False), (["--saved-steps"], False), (["--nodes"], False))

    def test_what_is_no_number_in_range_is_refused_everywhere(self):
        checked = set()
        none = ["-1", "99999999999999999999", "nan", "inf", "1e400", "", "x", "+1", " 1", "1 "]
        for command in ("info", "list", "plan", "cost", "bench", "tune"):
            for names, fractions in self.options(command):
                for name in names if not SMALL else names[-1:]:
                    for wrong in none[:1] if SMALL else none + ["1.5", "0x10"] * (not fractions):
                        needed = [] if "--ranks" in names else self.NEEDED.get(command, [])
                        result = coset(command, *needed, *(["ring"] if command == "plan" and not needed else []), name, wrong)
                        with self.subTest(command=command, name=name, wrong=wrong):
                            self.assertEqual((result.returncode, result.stdout), (2, ""))
                            self.assertIn(names[-1], result.stderr)
                            checked.add((command, names[-1]))
        expected = {("plan", "--root"), ("plan", "--radix"), ("cost", "--alpha"), ("cost", "--bytes"), ("cost", "--figure")}
        expected |= {(command, "--ranks") for command in ("info", "list", "plan", "cost")}
        if "Not in this build" not in coset("--help").stdout:
            expected |= {("tune", "--ranks")} | {("bench", option) for option in (
                "--ranks", "--min-bytes", "--max-bytes", "--factor", "--sizes", "--iterations", "--warmup", "--rounds", "--threads")}
        self.assertLessEqual(expected, checked)

    def test_sizes_have_units(self):
        head = lambda text: coset("cost", "-t", 2, "-b", text).stdout.splitlines()[0].split()[2]
        for text, bytes in (("64K", 65536), ("64kb", 65536), ("1MiB", 1 << 20), ("3B", 3), ("1024T", 1 << 50)):
            self.assertEqual(head(text), str(bytes))
        for wrong in ("0", "1025T", "1P", "K", "1.5M", "1KK", "-1K"):
            self.assertEqual(coset("cost", "-b", wrong).returncode, 2, wrong)

    def test_ranks_have_the_same_letter_in_all_commands(self):
        for command in (["list"], ["cost"], ["plan", "ring"], ["info", "--topology", "core:8 pu:1"]):
            answers = {coset(*command, letter, 4).stdout for letter in ("-t", "-r", "--ranks")}
            self.assertEqual(len(answers), 1, command)
            self.assertNotEqual(answers, {""})


class Output(Files):
    def commands(self):
        yield from (["list"], ["--help"], ["--version"], ["cost"], ["cost", "--figure", "7"], ["cost", "--topology", "core:2 pu:1"],
                    ["info", "--topology", "core:2 pu:1"], ["info", "--topology", "core:2 pu:1", "--json"], ["info", "-t", "1"],
                    ["info", "-t", "1", "--json"], ["generate", "tree_ring", "--tree", self.file(TREE)])
        for form in ("--text", "--json", "--dot", "--svg", "--check"):
            yield ["plan", "ring", "-t", "40", form]

    def assertFails(self, command, **where):
        run = subprocess.run([COSET, *command], stderr=subprocess.PIPE, text=True, timeout=120, check=False, **where)
        self.assertEqual(run.returncode, 1, (command, run.stderr))
        self.assertIn("standard output could not be written", run.stderr)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no full device here")
    def test_a_full_disk_is_exit_status_1(self):
        for command in self.commands():
            with open("/dev/full", "w", encoding="utf-8") as full:
                self.assertFails(command, stdout=full)

    def test_a_reader_who_has_gone_is_exit_status_1(self):
        for command in self.commands():
            reading, writing = os.pipe()
            os.close(reading)
            self.assertFails(command, stdout=writing)
            os.close(writing)

    def test_a_closed_standard_output_is_exit_status_1(self):
        self.assertFails(["list"], preexec_fn=lambda: os.close(1))

    def test_the_version_is_a_number(self):
        result = coset("--version")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^coset \d+\.\d+\.\d+\n$")


class Generate(Files):
    @unittest.skipUnless(shutil.which("mpicc") and shutil.which("mpiexec"), "no MPI here")
    def test_the_generated_routine_reduces_over_mpi(self):
        source, program = os.path.join(self.folder, "ring.c"), os.path.join(self.folder, "ring")
        with open(source, "w") as out:
            out.write(coset("generate", "tree_ring", "--tree", self.file(TREE)).stdout)
        test = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tree_ring_main.c")
        subprocess.run(["mpicc", "-std=c99", "-Wall", "-Wextra", "-Werror", source, test, "-o", program], check=True)
        as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        subprocess.run(["mpiexec", "-n", "6", program], check=True, timeout=120, env={**os.environ, **as_root})

    def test_the_generated_ring_visits_the_tree_depth_first(self):
        text = coset("generate", "tree_ring", "--tree", self.file(TREE)).stdout
        self.assertIn("ring[RANKS] = {5, 0, 3, 1, 2, 4}", text)


class BadInput(Files):
    def assertRefused(self, hint, *arguments):
        result = coset(*arguments)
        self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
        self.assertIn(hint, result.stderr, arguments)

    def test_arguments_that_no_plan_can_serve_are_refused_with_what_would_do(self):
        self.assertRefused("from 1 to", "plan", "ring", "-r", 0)
        self.assertRefused("at least 2", "plan", "binomial", "-r", 4, "--radix", 1)
        self.assertRefused("radix", "plan", "generalized", "-r", 4, "--radix", 1)
        self.assertRefused("saved_steps", "plan", "generalized", "-r", 7, "--saved-steps", 4)
        self.assertRefused("product of dims", "plan", "product", "-r", 12, "--group", "4x4")
        self.assertRefused("bruck_ho", "plan", "adapted_dissemination(n=1)", "-r", 13)
        self.assertRefused("not 8", "plan", "unequal", "-r", 8, "--nodes", "5,2")
        self.assertRefused("root 4", "plan", "binomial", "-r", 4, "-c", "reduce", "--root", 4)
        self.assertRefused("there are", "plan", "rong", "-r", 4)
        self.assertRefused("there are", "plan", "ring", "-r", 4, "-c", "scatter")
        self.assertRefused("given twice", "plan", "generalized(radix=2)", "-r", 4, "--radix", 2)
        self.assertRefused("not among", "cost", "--figure", 2)
        self.assertRefused("from 1 to", "cost", "-r", 0)
        self.assertRefused("no whole number", "plan", "unequal", "-r", 4, "--nodes", "2,x")
        self.assertRefused("whole numbers", "plan", "unequal(nodes=2+x)", "-r", 4)
        self.assertRefused("whole numbers", "plan", "generalized(saved_steps=-1)", "-r", 4)
        self.assertRefused("whole numbers", "plan", "generalized(radix=4294967298)", "-r", 4)
        self.assertRefused("too many to write out", "plan", "direct", "-r", 100000)
        self.assertRefused("too many to write out", "plan", "binomial", "-r", 4000000000)
        self.assertRefused("too many to write out", "cost", "-r", 4000000000)

    def test_arguments_that_the_command_does_not_know_are_refused(self):
        self.assertRefused("--ranks", "plan", "ring")
        self.assertRefused("", "plan", "ring", "-r", "many")
        self.assertRefused("", "plan", "ring", "-r", 4, "--json", "--dot")
        self.assertRefused("no command 'plain'; it has info, bench", "plain")
        self.assertRefused("no command 'tree'; it has tree_ring", "generate", "tree")
        self.assertRefused("")

    def test_trees_that_are_none_are_refused_with_the_reason(self):
        for hint, tree in [
            ("cycle", {"a": ["b"], "b": ["a", 0]}),
            ("rank 1 is not connected", {"a": [0, 2]}),
            ("not connected", {"a": [0], "b": [1]}),
            ("two parents", {"a": [0, 0]}),
        ]:
            path = self.file({"tree": tree})
            self.assertRefused(hint, "generate", "tree_ring", "--tree", path)
            self.assertRefused(hint, "plan", "tree_ring", "-r", 2, "--tree", path)
        self.assertRefused("not 4", "plan", "tree_ring", "-r", 4, "--tree", self.file(TREE))
        self.assertRefused("cannot be read", "generate", "tree_ring", "--tree", "/nowhere.json")

    def test_what_a_plan_in_a_file_says_is_not_said_again(self):
        path = self.file(json.loads(coset("plan", "ring", "-r", 4, "--json").stdout))
        for option in (["--ranks", 4], ["-c", "allreduce"], ["--root", 0], ["--radix", 2], ["--saved-steps", 0],
                       ["--group", "2x2"], ["--nodes", "2,2"], ["--tree", path]):
            self.assertRefused("says itself", "plan", path, *option)
        self.assertRefused("cannot be read", "plan", "/nowhere.json")
        folder = os.path.join(self.folder, "folder.json")
        os.mkdir(folder)
        self.assertRefused("is no plan", "plan", folder)
        self.assertRefused(folder, "plan", "tree_ring", "-r", 4, "--tree", folder)

    def test_the_manual_page_has_every_command(self):
        page = pathlib.Path(__file__, "../../../docs/coset.1").resolve().read_text(encoding="utf-8")
        commands = coset("--help").stdout.split("Subcommands:")[1].split()
        for command in ("info", "tune", "bench", "list", "plan", "cost", "generate"):
            self.assertIn(command, commands)
            self.assertIn(f".It Cm {command} ", page)

    def test_help_is_everywhere(self):
        for command in [[], ["list"], ["plan"], ["cost"], ["generate"], ["generate", "tree_ring"]]:
            result = coset(*command, "--help")
            self.assertEqual(result.returncode, 0, command)
            self.assertIn("Usage", result.stdout, command)


if __name__ == "__main__":
    COSET = sys.argv.pop(1)
    unittest.main()
