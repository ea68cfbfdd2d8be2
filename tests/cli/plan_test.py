#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coset list, plan and generate: schedules as users see them, checked from outside.

    plan_test.py COSET [unittest's arguments]
"""
import json
import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree
from collections import defaultdict

import check_plan
from command import LONG, SMALL, TREE, VERBS, Files, coset, listed, needed, needs_lab


SVG = "{http://www.w3.org/2000/svg}"
PICTURED = [("ring", 4), ("generalized(saved_steps=1)", 7), ("direct", 5), ("unequal(nodes=3+2)", 5), ("bruck_ho(n=2)", 7)]


def transfers(plan):
    """{(step, from, to, "fold" or "copy"): its blocks}, steps from 1."""
    found = defaultdict(set)
    for number, step in enumerate(plan["steps"], 1):
        for a in step:
            for peer, _ in a["from"]:
                if peer != a["rank"]:
                    found[number, peer, a["rank"], "fold" if len(a["from"]) > 1 else "copy"].add(a["block"])
    return found


def numbers(runs):
    """"0-2,5" as {0, 1, 2, 5}."""
    ends = [list(map(int, run.split("-"))) for run in runs.split(",")]
    return {n for run in ends for n in range(run[0], run[-1] + 1)}


def data_of(page):
    """The plans in a page, which ends the script at its first </script>, as browsers do."""
    return json.loads(re.search(r'<script type="application/json" id="plans">(.*?)</script>', page, re.DOTALL).group(1))


class List(unittest.TestCase):
    def test_every_algorithm_is_listed_with_figures(self):
        names = listed()
        for expected in ("direct", "generalized", "unequal", "two_level", "binomial", "tree_ring"):
            self.assertIn(expected, names)
        for line in coset("list").stdout.splitlines()[1 : 1 + len(names)]:
            self.assertNotEqual(line.split()[1], "-", line)


class Plan(Files):
    def test_every_plan_does_what_its_collective_requires(self):
        """Each algorithm meets each verb and each number of ranks, and each verb each number; all three together under long
        effort."""
        checked = 0
        numbers = (3,) if SMALL else (1, 2, 3, 4, 7, 12)
        for n, name in enumerate(listed()):
            for v, verb in enumerate(VERBS):
                for ranks in numbers if LONG else {numbers[(n + v) % len(numbers)], numbers[(n + v + 3) % len(numbers)]}:
                    result = coset("plan", "--plan", needed(name, ranks), "-r", ranks, "-c", verb, "--root", ranks // 2, "--json")
                    if result.returncode == 2:
                        self.assertIn("does not serve", result.stderr, (name, ranks, verb))
                        continue
                    with self.subTest(name=name, ranks=ranks, verb=verb):
                        check_plan.check(json.loads(result.stdout))
                        checked += 1
        self.assertGreater(checked, 600 if LONG else 80 if SMALL else 200)

    def test_what_is_printed_is_read_again(self):
        for n, name in enumerate(listed()):
            for ranks in (3,) if SMALL else (3, 5, 6) if LONG else (3, 5 + n % 2):
                printed = coset("plan", "--plan", needed(name, ranks), "-r", ranks, "-c", "allreduce", "--json")
                if printed.returncode == 2:
                    self.assertIn("does not serve", printed.stderr, (name, ranks))
                    continue
                path = self.file(json.loads(printed.stdout))
                again = coset("plan", "--plan", path, "--json")
                self.assertEqual((again.returncode, again.stderr), (0, ""), (name, ranks))
                self.assertEqual(json.loads(again.stdout), json.loads(printed.stdout), (name, ranks))
        plan = json.loads(printed.stdout)
        for wrong in (1, None, "true", [True]):
            refused = coset("plan", "--plan", self.file({**plan, "idempotent_only": wrong}))
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), wrong)
            self.assertIn("idempotent_only is", refused.stderr)

    def test_a_broken_plan_does_not_pass_the_checker(self):
        plan = json.loads(coset("plan", "--plan", "ring", "-r", 4, "--json").stdout)
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
        plan = json.loads(coset("plan", "--plan", "generalized", "-r", 7, "--saved-steps", 1, "--json").stdout)
        self.assertEqual(plan["parameters"], {"cap": 0, "radix": 2, "saved_steps": 1})
        self.assertEqual((plan["collective"], plan["algorithm"], plan["root"], plan["ranks"]), ("allreduce", "generalized", None, 7))
        self.assertEqual(plan["blocks"][1], {"offset": "1/7", "size": "1/7"})
        self.assertEqual(list(plan["steps"][0][0]), ["rank", "block", "slot", "from"])
        self.assertEqual(plan["properties"]["steps"], 5)
        reduce = json.loads(coset("plan", "--plan", "binomial", "-r", 5, "-c", "reduce", "--root", 3, "--json").stdout)
        self.assertEqual([row[0] is None for row in reduce["result"]], [True, True, True, False, True])
        self.assertEqual(reduce["root"], 3)

    def test_shorthands_say_the_same_as_parameters(self):
        for text, shorthand, ranks in [
            ("generalized(radix=4,saved_steps=1)", ["generalized", "--radix", 4, "--saved-steps", 1], 12),
            ("product(dims=4x3)", ["product", "--group", "4x3"], 12),
            ("unequal(nodes=5+2+4)", ["unequal", "--nodes", "5,2,4"], 11),
        ]:
            long, short = coset("plan", "--plan", text, "-r", ranks, "--json"), coset("plan", *shorthand, "-r", ranks, "--json")
            self.assertEqual((long.returncode, long.stderr), (0, ""))
            self.assertEqual(long.stdout, short.stdout)

    def test_blocks_for_too_many_ranks_are_refused_before_their_chain_is_made(self):
        for name in ["swing", "fold(shifts=1,radix=4294967295)"]:
            refused = coset("plan", "--plan", name, "-r", 60000000)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), name)
            self.assertIn("too many to write out", refused.stderr)

    def test_what_is_in_rank_order_stays_so_when_asked_for(self):
        for name in ["fold(group=4x2,shifts=direct)", "fold(group=dihedral,shifts=direct)"]:
            plain, ordered = (json.loads(coset("plan", "--plan", text, "-r", 8, "--json").stdout)
                              for text in [name, name[:-1] + ",ordered=1)"])
            self.assertEqual(ordered["steps"], plain["steps"])
            self.assertTrue(ordered["properties"]["ordered"])

    def test_a_tree_file_gives_a_plan_without_contention(self):
        result = coset("plan", "--plan", "tree_ring", "-r", 6, "--tree", self.file(TREE), "--check")
        self.assertIn("per direction and step: 1\n", result.stdout)
        flex = coset("plan", "--plan", "flexreduce", "-r", 6, "--tree", self.file(TREE), "--json")
        check_plan.check(json.loads(flex.stdout))

    def test_others_show_how_many_messages_meet_on_a_tree(self):
        def busiest(*arguments):
            result = coset("plan", *arguments, "--check", "--tree", self.file(TREE))
            return re.search(r"busiest edge.*: (\d+)", result.stdout), result

        self.assertEqual(busiest("direct", "-r", 6)[0][1], "9")  # three of a switch read from three elsewhere
        self.assertGreater(int(busiest("recursive_halving", "-r", 6)[0][1]), 1)
        _, refused = busiest("ring", "-r", 7)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("tree has 6 ranks", refused.stderr)

    def test_pictures_are_well_formed(self):
        picture = xml.etree.ElementTree.fromstring(coset("plan", "--plan", "ring", "-r", 4, "--svg").stdout)
        self.assertEqual(sum(1 for circle in picture.iter(f"{SVG}circle")), 4 * 7)
        graph = coset("plan", "--plan", "ring", "-r", 4, "--dot").stdout
        self.assertTrue(graph.startswith("digraph") and graph.count("{") == graph.count("}"))
        self.assertEqual(sum("->" in line and "dotted" not in line and "invis" not in line for line in graph.splitlines()), 4 * 6)
        text = coset("plan", "--plan", "binomial", "-r", 4, "-c", "reduce").stdout
        self.assertIn("rank 0   reads 2         block 0 = {0-3}", text)

    def test_pictures_have_an_arrow_for_each_transfer(self):
        for name, ranks in PICTURED:
            with self.subTest(name=name):
                plan = transfers(json.loads(coset("plan", "--plan", name, "-r", ranks, "--json").stdout))
                picture = xml.etree.ElementTree.fromstring(coset("plan", "--plan", name, "-r", ranks, "--svg").stdout)
                shown = {}
                for arrow in picture.iter(f"{SVG}line"):
                    if (kind := arrow.get("class")) is None:
                        continue
                    self.assertEqual(arrow.get("marker-end"), f"url(#{kind})")
                    title = re.fullmatch(r"step (\d+): (\d+) to (\d+), block (\S+) to (fold|copy)", arrow[0].text)
                    step, begin, end = (int(title[i]) for i in (1, 2, 3))
                    self.assertEqual(title[5], kind)
                    self.assertNotIn((step, begin, end, kind), shown)
                    shown[step, begin, end, kind] = numbers(title[4])
                    for across, rank in (("x1", begin), ("x2", end)):  # which leads from the one to the other
                        self.assertLessEqual(abs(float(arrow.get(across)) - 100 - 60 * rank), 15)
                self.assertEqual(shown, plan)
                texts = {text.text for text in picture.iter(f"{SVG}text")}
                self.assertLessEqual({"folded", "copied", *(f"step {step}" for step, *_ in plan)}, texts)

    def test_graphs_have_an_edge_for_each_transfer(self):
        for name, ranks in PICTURED:
            with self.subTest(name=name):
                plan = transfers(json.loads(coset("plan", "--plan", name, "-r", ranks, "--json").stdout))
                graph = coset("plan", "--plan", name, "-r", ranks, "--dot").stdout
                shown = {}
                for edge in re.finditer(r's(\d+)r(\d+) -> s(\d+)r(\d+) \[label="(.*?)", color="(.*?)"(, style=dashed)?\];', graph):
                    self.assertEqual(int(edge[3]), int(edge[1]) + 1)
                    shown[int(edge[3]), int(edge[2]), int(edge[4]), "copy" if edge[7] else "fold"] = numbers(edge[5])
                self.assertEqual(shown, plan)

    def test_graphs_keep_the_ranks_of_each_level_in_order(self):
        graph = coset("plan", "--plan", "circulant", "-t", 5, "--dot").stdout
        for level in range(7):
            line = next(line for line in graph.splitlines() if f"s{level}r0 [label" in line)
            self.assertIn("{ rank=same;", line)
            self.assertIn(f"t{level} -> {' -> '.join(f's{level}r{rank}' for rank in range(5))} [style=invis];", line)
            self.assertIn('label="inputs"' if level == 0 else f'label="step {level}"', line)

    @unittest.skipUnless(shutil.which("dot"), "no Graphviz here")
    def test_graphviz_draws_rows_from_left_to_right(self):
        graph = coset("plan", "--plan", "generalized", "-t", 7, "--dot").stdout
        drawn = subprocess.run(["dot", "-Tplain"], input=graph, capture_output=True, text=True, check=True).stdout
        places = {m[1]: (float(m[2]), float(m[3])) for m in re.finditer(r"^node (\S+) (\S+) (\S+)", drawn, re.MULTILINE)}
        for level in range(7):
            row = [places[f"s{level}r{rank}"] for rank in range(7)]
            self.assertEqual(row, sorted(row))
            self.assertEqual({y for _, y in row}, {places[f"t{level}"][1]})

    @needs_lab
    def test_a_page_has_the_plans_that_json_prints(self):
        names = ["ring", "generalized(saved_steps=1)", "bruck_ho(n=2)"]
        page = coset("plan", "allreduce", *(word for name in names for word in ("--plan", name)), "-r", 7, "--html")
        self.assertEqual((page.returncode, page.stderr), (0, ""))
        expected = [json.loads(coset("plan", "--plan", name, "-r", 7, "--json").stdout) for name in names]
        self.assertEqual(data_of(page.stdout), expected)
        for outside in ("http://", "https://", "src=", "<link", "@import", "url(data"):
            self.assertNotIn(outside, page.stdout.replace("http://www.w3.org/2000/svg", ""))

    @needs_lab
    def test_a_page_of_files_is_proved_and_cannot_be_broken_out_of(self):
        plan = json.loads(coset("plan", "--plan", "ring", "-r", 2, "--json").stdout)
        plan["parameters"]["tree"] = "</script><!--<script>"
        page = coset("plan", "--plan", self.file(plan), "--html")
        self.assertEqual(data_of(page.stdout), [plan])
        self.assertEqual((page.stdout.count("</script"), page.stdout.count("<!--")), (2, 0))
        plan["steps"][0][0]["from"] = plan["steps"][0][0]["from"][:1]
        wrong = self.file(plan)
        for arguments in ([wrong, "--html"], ["--html", wrong, wrong]):
            self.assertEqual((coset("plan", *arguments).returncode, coset("plan", *arguments).stdout), (1, ""))

    @needs_lab
    def test_several_algorithms_need_a_page_and_a_page_has_an_end(self):
        several = coset("plan", "--plan", "ring", "--plan", "direct", "-r", 4, "--svg")
        self.assertEqual((several.returncode, several.stdout), (2, ""))
        self.assertIn("--html", several.stderr)
        proved = coset("plan", "--plan", "ring", "--plan", "direct", "-r", 4, "--html", "--check")
        self.assertEqual(len(data_of(proved.stdout)), 2)
        self.assertRegex(proved.stderr, r"^ring\(.*\): valid: 6 steps.*\ndirect\(.*\): valid: 2 steps.*\n$")
        large = coset("plan", "--plan", "ring", "-r", 400, "--html")
        self.assertEqual((large.returncode, large.stdout), (2, ""))
        self.assertIn("take fewer ranks", large.stderr)

    def test_the_title_of_a_picture_fits_into_it(self):
        for ranks in range(1, 9):
            picture = xml.etree.ElementTree.fromstring(coset("plan", "--plan", "generalized", "-t", ranks, "--svg").stdout)
            title = picture.find(f"{SVG}text")
            self.assertIn(f"{ranks} ranks", title.text)
            self.assertGreaterEqual(int(picture.get("width")), int(title.get("x")) + 7 * len(title.text), ranks)
            rightmost = max(int(circle.get("cx")) for circle in picture.iter(f"{SVG}circle"))
            self.assertGreaterEqual(int(picture.get("width")), rightmost + 11)

    def test_check_compares_what_a_file_states(self):
        plan = json.loads(coset("plan", "--plan", "generalized", "-t", 7, "--json").stdout)
        self.assertEqual(coset("plan", "--plan", self.file(plan), "--check").returncode, 0)
        for name, wrong in (("steps", 5), ("sent_max", "2"), ("combined_max", 1), ("fan_in", 2), ("rank_uniform", False),
                            ("ordered", True), ("volume_bound", None), ("beauty", 1)):
            boasting = json.loads(json.dumps(plan))
            boasting["properties"][name] = wrong
            path = self.file(boasting)
            result = coset("plan", "--plan", path, "--check")
            self.assertEqual((result.returncode, result.stdout), (1, ""), name)
            self.assertRegex(result.stderr, f'^wrong: in the properties, "?{name}"? is {json.dumps(wrong)}, and')
            self.assertEqual(coset("plan", "--plan", path, "--text").returncode, 0, "only the plan itself is proved then")
        del plan["properties"]
        self.assertIn("valid: 6 steps", coset("plan", "--plan", self.file(plan), "--check").stdout)

    def test_check_reports_what_it_proved(self):
        result = coset("plan", "--plan", "direct", "-r", 5, "--check")
        self.assertEqual(result.returncode, 0)
        self.assertIn("valid: 2 steps", result.stdout)
        beside = coset("plan", "--plan", "direct", "-r", 5, "--check", "--json")
        check_plan.check(json.loads(beside.stdout))
        self.assertIn("valid", beside.stderr)


    @needs_lab
    def test_a_plan_in_a_file_is_shown_as_the_algorithm_is(self):
        made = coset("plan", "--plan", "generalized(saved_steps=1)", "-r", 7, "-c", "reduce", "--root", 3, "--json").stdout
        path = self.file(json.loads(made))
        for form in ("--json", "--text", "--dot", "--svg", "--html", "--check"):
            again = coset("plan", "--plan", path, form)
            self.assertEqual((again.returncode, again.stderr), (0, ""))
            self.assertEqual(again.stdout, coset("plan", "--plan", "generalized(saved_steps=1)", "-r", 7, "-c", "reduce", "--root", 3, form).stdout)

    def test_a_wrong_plan_in_a_file_is_told_from_no_plan(self):
        plan = json.loads(coset("plan", "--plan", "ring", "-r", 4, "--json").stdout)
        plan["steps"][0][0]["from"][1][0] ^= 2
        for form in ("--json", "--text", "--check"):
            result = coset("plan", "--plan", self.file(plan), form)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn("wrong: step", result.stderr)
        del plan["ranks"]
        result = coset("plan", "--plan", self.file(plan), "--check")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("is not a plan: ranks is missing", result.stderr)

    def test_pictures_of_a_plan_in_a_file_are_well_formed_whatever_it_is_called(self):
        plan = json.loads(coset("plan", "--plan", "ring", "-r", 2, "--json").stdout)
        plan["parameters"]["tree"] = '<"&>'
        picture = xml.etree.ElementTree.fromstring(coset("plan", "--plan", self.file(plan), "--svg").stdout)
        self.assertIn('tree=<"&>', picture.find(f"{SVG}text").text)
        self.assertIn('tree=<\\"&>', coset("plan", "--plan", self.file(plan), "--dot").stdout)


class Generate(Files):
    @unittest.skipUnless(shutil.which("mpicc") and shutil.which("mpiexec"), "no MPI here")
    @needs_lab
    def test_the_generated_routine_reduces_over_mpi(self):
        eight = {f"s{i}": list(range(8 * i, 8 * i + 8)) for i in range(4)}  # Patarasuk and Yuan's hosts, in a star and in a chain
        star = {"top": list(eight)} | eight
        chain = {switch: own + ([f"s{i + 1}"] if i < 3 else []) for i, (switch, own) in enumerate(eight.items())}
        for number, (tree, ranks) in enumerate(((TREE, 6), ({"tree": star}, 32), ({"tree": chain}, 32))):
            with self.subTest(number):
                self.run_generated(f"ring{number}", tree, ranks)

    def run_generated(self, name, tree, ranks):
        source, program = os.path.join(self.folder, name + ".c"), os.path.join(self.folder, name)
        with open(source, "w") as out:
            out.write(coset("generate", "tree_ring", "--tree", self.file(tree)).stdout)
        test = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tree_ring_main.c")
        subprocess.run(["mpicc", "-std=c99", "-Wall", "-Wextra", "-Werror", source, test, "-o", program], check=True)
        as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        subprocess.run(["mpiexec", "-n", str(ranks), program], check=True, timeout=120, env={**os.environ, **as_root})

    @needs_lab
    def test_the_generated_ring_visits_the_tree_depth_first(self):
        text = coset("generate", "tree_ring", "--tree", self.file(TREE)).stdout
        self.assertIn("ring[RANKS] = {5, 0, 3, 1, 2, 4}", text)


if __name__ == "__main__":
    unittest.main()
