#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coset cost: side by side, and on machines and networks.

    cost_test.py COSET [unittest's arguments]
"""
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

from command import COSET, TREE, Files, coset


class Cost(unittest.TestCase):
    def test_candidates_come_fastest_first_and_keep_what_was_asked(self):
        rows = [line.split() for line in coset("cost", "-r", 12, "-b", "64K").stdout.splitlines()[3:-1]]
        times = [float(row[0]) for row in rows]
        self.assertEqual(times, sorted(times))
        self.assertEqual(rows[0][1], "1.00")
        self.assertEqual({row[8] for row in rows}, {"same"})
        free = coset("cost", "-r", 12, "-b", "64K", "--per-rank-bits").stdout
        self.assertIn("differ", free)
        ordered = coset("cost", "-r", 12, "-b", "64K", "--ordered").stdout.splitlines()[3:-1]
        self.assertEqual({line.split()[9] for line in ordered}, {"yes"})

    def test_nodes_add_what_goes_node_by_node_and_the_load_of_their_links(self):
        result = coset("cost", "--nodes", "5,2,4", "-b", "64K")
        rows = [line.split() for line in result.stdout.splitlines()[3:-1]]
        links = {row[-1]: row[8] for row in rows}
        for parameters in ("leaders=0,nodes=5+2+4,radix=2", "leaders=1,nodes=5+2+4,radix=2", "leaders=1,nodes=5+2+4,radix=3"):
            self.assertEqual(links[f"two_level({parameters},saved_steps=0)"], "4/3")
        self.assertEqual(links["two_level(leaders=1,nodes=5+2+4,radix=3,saved_steps=1)"], "2")
        self.assertEqual(links["ring(ordered=0)"], "20/11")
        self.assertEqual(links["direct(saved_steps=0)"], "60/11")  # 2 · 5 ranks read 1/11 of 6 others' vectors
        same = coset("cost", "--nodes", "5,2,4", "-b", "64K", "-r", 11)
        self.assertEqual((same.returncode, same.stdout), (0, result.stdout))
        times = {row[-1]: float(row[0]) for row in rows}
        self.assertLess(times["flexreduce(nodes=5+2+4)"], times["ring(ordered=0)"])  # whose links carry more
        for hint, arguments in [
            ("hold 11 ranks, not 9", ["--nodes", "5,2,4", "-r", 9]),
            ("not a whole number", ["--nodes", "5,0"]),
            ("excludes", ["--nodes", "5,2", "--topology", "core:8 pu:1"]),
        ]:
            refused = coset("cost", *arguments)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), arguments)
            self.assertIn(hint, refused.stderr, arguments)


class Written(Files):
    def write(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "w") as out:
            out.write(content if isinstance(content, str) else json.dumps(content))
        return path


def call(arguments):
    """As the command takes them: VERB SIZES --plan ALGORITHM …, of names, -b and -c."""
    verb, sizes, rest, left = "allreduce", [], [], list(arguments)
    while left:
        word = left.pop(0)
        if word == "-b":
            sizes = str(left.pop(0)).split(",")
        elif word == "-c":
            verb = left.pop(0)
        else:
            rest += [word, left.pop(0)] if str(word).startswith("-") else ["--plan", word]
    return [verb, *sizes, *rest]


class Compared(Written):
    """Names, plans and models side by side."""

    def rows(self, *arguments):
        result = coset("cost", *call(arguments), "--csv")
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return list(csv.DictReader(io.StringIO(result.stdout)))

    def seconds(self, *arguments):
        return {row["algorithm"]: float(row["seconds"]) for row in self.rows(*arguments)}

    def test_names_are_priced_over_sizes_and_ranks(self):
        rows = self.rows("ring", "generalized(saved_steps=1)", "-r", "3-5,8", "-b", "1K-4K,1M")
        self.assertEqual([(row["algorithm"], row["ranks"], row["bytes"]) for row in rows],
                         [(name, ranks, size) for ranks in "3458" for size in ("1024", "2048", "4096", "1048576")
                          for name in ("ring", "generalized(saved_steps=1)")])
        for row in rows:  # a ring's steps send a P-th each, half of them with a combine
            ranks, size = int(row["ranks"]), int(row["bytes"])
            if row["algorithm"] == "ring":
                self.assertAlmostEqual(float(row["seconds"]),
                                       (ranks - 1) * (2 * 3e-5 + size / ranks * (2e-8 + 2e-10)), 9)
        self.assertEqual([row["algorithm"] for row in self.rows("-r", 4, "-b", 8, "ring")], ["ring"])  # after options, too
        text = coset("cost", "ring", "direct", "-r", "4,8", "-b", "1K,1M").stdout.splitlines()
        self.assertEqual(text[2].split(), ["ranks", "bytes", "ring", "direct", "fastest"])
        self.assertEqual([line.split()[:2] for line in text[3:]],
                         [["4", "1024"], ["4", "1048576"], ["8", "1024"], ["8", "1048576"]])

    def test_json_says_what_csv_says(self):
        arguments = ("ring", "direct", "-r", "4,6", "-b", "1K")
        found = json.loads(coset("cost", *arguments, "--json").stdout)
        self.assertEqual(found["coset_prices"], 1)
        for one, row in zip(found["prices"], self.rows(*arguments), strict=True):
            self.assertEqual((one["algorithm"], str(one["ranks"])), (row["algorithm"], row["ranks"]))
            for key in ("seconds", "latency", "transfer", "combine"):
                self.assertAlmostEqual(one[key], float(row[key]), 12)

    def test_without_names_all_algorithms_come_fastest_first(self):
        rows = self.rows("-r", 6, "-b", "1K,1M")
        for size in ("1024", "1048576"):
            times = [float(row["seconds"]) for row in rows if row["bytes"] == size]
            self.assertGreater(len(times), 20)
            self.assertEqual(times, sorted(times))

    def test_pipelines_are_cut_in_the_best_number_of_blocks_for_each_size(self):
        arguments = ("n_block(blocks=best)", "binomial", "-c", "broadcast", "-r", 16, "--alpha", "1e-6", "--beta", "1e-9")
        prices = json.loads(coset("cost", *arguments, "-b", "1K,16M", "--json").stdout)["prices"]
        self.assertEqual([one["algorithm"] for one in prices], ["n_block(blocks=best)", "binomial"] * 2)
        for one in prices[::2]:  # the root of (log P - 1) beta m / alpha
            best = max(1, round((3 * 1e-3 * one["bytes"]) ** 0.5))
            self.assertEqual(one["made"], f"n_block(blocks={best})")
            self.assertEqual(one["steps"], best - 1 + 4)
        self.assertLess(prices[2]["seconds"], prices[3]["seconds"] / 3)
        one = coset("cost", *arguments, "-b", "16M").stdout
        self.assertIn("n_block(blocks=224)", one)
        every = coset("cost", "-c", "broadcast", "-r", 16, "-b", "16M").stdout
        self.assertIn("n_block(blocks=", every)
        without = coset("plan", "--plan", "n_block(blocks=best)", "-r", 8)
        self.assertEqual((without.returncode, without.stdout), (2, ""))
        self.assertIn("takes whole numbers, not 'best'; `coset cost` finds the best one", without.stderr)

    def test_a_plan_of_a_file_costs_what_its_algorithm_costs(self):
        plan = self.write("plan.json", coset("plan", "--plan", "generalized(saved_steps=1)", "-r", 7, "--json").stdout)
        for links in ([], ["--nodes", "3,4"], ["--topology", "node:2 core:4 pu:1"]):
            by_name = self.seconds("generalized(saved_steps=1)", "ring", "--plan", plan, "-b", "64K", *links)
            self.assertEqual(by_name[plan], by_name["generalized(saved_steps=1)"])
            self.assertNotEqual(by_name[plan], by_name["ring"])
        self.assertEqual(self.seconds(plan), self.seconds("--plan", plan))
        refused = coset("cost", "--plan", plan, "-r", 8)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("a plan for 7 ranks", refused.stderr)
        refused = coset("cost", "--plan", plan, "-c", "reduce")
        self.assertIn("is a plan of allreduce", refused.stderr)
        wrong = json.loads(pathlib.Path(plan).read_text())
        wrong["steps"][0][0]["from"].pop()
        refused = coset("cost", "--plan", self.write("wrong.json", wrong))
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("wrong: ", refused.stderr)

    def test_what_some_numbers_of_ranks_do_not_have_is_left_out_there(self):
        result = coset("cost", "ring", "product(dims=2x3)", "-r", "5,6", "-b", "1K", "--csv")
        self.assertEqual(result.returncode, 0)
        self.assertIn("left out on 5 ranks", result.stderr)
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        self.assertEqual([(row["ranks"], row["algorithm"]) for row in rows],
                         [("5", "ring"), ("6", "ring"), ("6", "product(dims=2x3)")])
        nothing = coset("cost", "product(dims=2x3)", "-r", 5)
        self.assertEqual((nothing.returncode, nothing.stdout), (2, ""))

    def test_on_a_tree_the_ring_along_it_meets_nobody_and_others_do(self):
        tree = self.file(TREE)
        rows = {row["algorithm"]: row for row in self.rows("ring", "tree_ring", "flexreduce", "--links", tree, "-b", "16M")}
        self.assertEqual({row["ranks"] for row in rows.values()}, {"6"})
        self.assertEqual((rows["tree_ring"]["contention"], rows["tree_ring"]["most_messages"]), ("1", "1"))
        self.assertGreater(float(rows["ring"]["contention"]), 1.5)
        every = {row["algorithm"] for row in self.rows("--links", tree)}
        self.assertTrue({f"tree_ring(tree={tree})", f"flexreduce(tree={tree})", "ring(ordered=0)"} <= every)
        text = coset("cost", "tree_ring", "--links", tree).stdout
        self.assertIn("contention", text)

    def test_links_are_shared_by_all_that_crosses_them(self):
        pairs = {"tree": {"top": ["a", "b"], "a": [0, 1], "b": [2, 3]}, "link": {"bandwidth": 1e9}, "rank": {"bandwidth": 1e10}}
        seconds = self.seconds("recursive_doubling", "--links", self.write("pairs.json", pairs), "-b", 1000, "--alpha", 0,
                               "--gamma", 0)
        self.assertAlmostEqual(seconds["recursive_doubling"], 1000 / 1e10 + 2 * 1000 / 1e9, 12)
        torus = self.write("torus.json", {"torus": [3, 3], "ranks_per_host": 2})
        self.assertEqual(self.rows("ring", "--links", torus)[0]["ranks"], "18")
        self.assertEqual(self.rows("ring", "--links", torus, "-r", 5)[0]["ranks"], "5")
        for hint, arguments in [
            ("has 18 ranks", ["--links", torus, "-r", 19]),
            ("cannot be read", ["--links", "/nowhere.json"]),
            ("dimension", ["--links", self.write("none.json", {"torus": ["3"]})]),
            ("excludes", ["--links", torus, "--nodes", "5,2"]),
            ("excludes", ["--links", torus, "--topology", "core:8 pu:1"]),
            ("requires", ["--inside", "0.5"]),
            ("from 0 to 1", ["--nodes", "5,2", "--inside", "1.5"]),
            ("from 0 to 1", ["--nodes", "5,2", "--inside", "nan"]),
            ("is none of", ["rign"]),
            ("range like 2-16", ["ring", "-r", "4-2"]),
            ("range like 1K-1M", ["ring", "-b", "1M-1K"]),
            ("excludes", ["ring", "--csv", "--json"]),
        ]:
            refused = coset("cost", *arguments)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), arguments)
            self.assertIn(hint.lower(), refused.stderr.lower(), arguments)

    def test_beside_every_plan_on_shared_links_stands_what_none_undercuts(self):
        # A megabyte each way over a link of 1 GB/s, and a message of 1 us.
        switches = self.write("switches.json", {"tree": {"left": ["right", 0, 1, 2, 3], "right": [4, 5, 6, 7]},
                                                "links": {"right": {"bandwidth": 1e9}}, "rank": {"bandwidth": 1e10}})
        for verb, megabytes, cuts in [("allreduce", 1, {"left -> right", "right -> left"}), ("broadcast", 1, {"left -> right"}),
                                      ("reduce", 1, {"right -> left"}), ("scatter", 0.5, {"left -> right"}),
                                      ("all_to_all", 2, {"left -> right", "right -> left"})]:
            found = json.loads(coset("cost", verb, 10**6, "--links", switches, "--alpha", "1e-6", "--json").stdout)["prices"]
            self.assertGreater(len(found), 5)
            for one in found:
                self.assertIn(one["bound"]["cut"], cuts, verb)
                self.assertEqual(float(one["bound"]["vectors"] if "/" not in one["bound"]["vectors"] else 0.5), megabytes)
                self.assertAlmostEqual(one["bound"]["seconds"], 1e-6 + megabytes * 1e-3, 12)
                self.assertAlmostEqual(one["over_bound"], one["seconds"] / one["bound"]["seconds"], 9)
                self.assertGreaterEqual(one["over_bound"], 1)
        row = self.rows("ring", "--links", switches, "-b", 8)[0]
        self.assertEqual((row["bound.cut"], float(row["bound.seconds"])), ("latency", 9e-5))  # three of 30 us
        self.assertAlmostEqual(float(row["over_bound"]), float(row["seconds"]) / 9e-5, 4)
        text = coset("cost", "allreduce", "--plan", "ring", "--links", switches).stdout
        self.assertRegex(text.splitlines()[1], " bound  over bound  binding cut ")
        self.assertEqual(self.rows("ring", "--nodes", "4,4", "-b", "1G")[0]["bound.cut"], "node 0 -> switch")
        self.assertEqual(self.rows("ring", "-b", "1G")[0]["bound.cut"], "")

    def test_ranks_that_are_too_many_to_write_out_are_counted_where_all_do_the_same(self):
        seconds = self.seconds("generalized", "-r", 100000, "-b", "1M", "--alpha", "1e-6", "--beta", "1e-9", "--gamma", 0)
        self.assertAlmostEqual(seconds["generalized"], 34e-6 + 2 * (1 - 1e-5) * 2**20 * 1e-9, 9)  # 2 · ceil(log2 P) steps
        text = coset("cost", "generalized", "-r", 100000).stdout
        self.assertRegex(text, "  34 .* same +no +generalized\n")
        found = json.loads(coset("cost", "ring", "-r", 10000, "--json").stdout)["prices"][0]
        self.assertEqual((found["steps"], found["received_max"], found["rank_uniform"]), (19998, "9999/5000", True))
        for arguments in (["binomial", "-c", "gather"], ["generalized(permute=reverse)"], ["generalized", "-c", "reduce"]):
            refused = coset("cost", *arguments, "-r", 10000)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), arguments)
            self.assertIn("10000 ranks with 10000 blocks each are too many to write out", refused.stderr)
            self.assertIn("none of these can be priced on 10000 ranks, as said above", refused.stderr)

    def test_one_rank_takes_no_time(self):
        for arguments in [["-r", 1], ["--nodes", 1]]:
            self.assertNotIn("nan", coset("cost", *arguments).stdout)

    def test_plots_are_scripts_with_their_data_or_pictures_by_gnuplot(self):
        script = os.path.join(self.folder, "curves.gp")
        self.assertEqual(coset("cost", "ring", "direct", "-b", "1K-8K", "--plot", script).returncode, 0)
        text = pathlib.Path(script).read_text()
        self.assertEqual(text.count("<< end"), 2)
        self.assertIn("\n2048 456.198\n", text)
        self.assertIn("curves.svg'", text)
        self.assertEqual(coset("cost", "-r", "2-5", "-b", "1K", "--plot", script).returncode, 0)
        self.assertIn("set xlabel 'ranks'", pathlib.Path(script).read_text())
        self.assertLessEqual(pathlib.Path(script).read_text().count("<< end"), 8)  # what is fastest somewhere
        one = coset("cost", "ring", "--plot", script)
        self.assertEqual((one.returncode, one.stdout), (2, ""))
        links = os.path.join(self.folder, "a\nsystem 'touch'\n.json")
        pathlib.Path(links).write_text('{"torus": [4]}')
        self.assertEqual(coset("cost", "ring", "-b", "1K-8K", "--links", links, "--plot", script).returncode, 0)
        self.assertNotIn("\nsystem", pathlib.Path(script).read_text())
        picture = os.path.join(self.folder, "curves.svg")
        arguments = ["cost", "ring", "direct", "-b", "1K-8K", "--plot", picture]
        missing = subprocess.run([COSET, *arguments], capture_output=True, text=True, env={**os.environ, "PATH": self.folder})
        self.assertEqual((missing.returncode, missing.stdout), (1, ""))
        self.assertIn("gnuplot is missing", missing.stderr)
        self.assertFalse(os.path.exists(picture))
        if shutil.which("gnuplot"):
            self.assertEqual(coset(*arguments).returncode, 0)
            words = {word.strip() for word in xml.etree.ElementTree.parse(picture).getroot().itertext()}
            self.assertTrue({"ring", "direct", "bytes"} <= words)


class CostOnAMachine(Written):
    """Volumes are small whole numbers of vectors where nodes are equal, so they are checked by hand."""

    def costs(self, machine, *arguments):
        result = coset("cost", "allreduce", "1M", "--topology", machine, "--json", *arguments)
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
        self.assertTrue(all("permute=stride:2" in name for name in self.by_name if "nodes=" in name or "dims=" in name))
        self.assertEqual(self.by_name["product(dims=2x2,permute=stride:2,saved_steps=0)"]["between_nodes"], "2")
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

    def test_near_nodes_are_a_level_where_they_are_no_packages(self):
        """Packages of a node of two cores each, joined in pairs: at distance 16, and 32 to the others."""
        def package(k):
            sets = lambda cpus: f'cpuset="{cpus:#x}" complete_cpuset="{cpus:#x}" nodeset="{1 << k:#x}" complete_nodeset="{1 << k:#x}"'
            core = lambda c: (f'<object type="Core" os_index="{c}" {sets(1 << c)} gp_index="{100 + c}">'
                              f'<object type="PU" os_index="{c}" {sets(1 << c)} gp_index="{200 + c}"/></object>')
            return (f'<object type="Package" os_index="{k}" {sets(3 << 2 * k)} gp_index="{10 + k}">'
                    f'<object type="NUMANode" os_index="{k}" {sets(3 << 2 * k)} gp_index="{20 + k}" local_memory="1073741824"/>'
                    f'{core(2 * k)}{core(2 * k + 1)}</object>')

        def levels(distance):
            matrix = " ".join(str(distance(a, b)) for a in range(4) for b in range(4)) + " "
            everything = " ".join(f'{name}="0x{"ff" if "cpu" in name else "f"}"' for kind in ("cpuset", "nodeset")
                                  for name in (kind, f"complete_{kind}", f"allowed_{kind}"))
            # hwloc without libxml2 reads these headings at the beginning of lines alone.
            found = self.costs(self.write("machine.xml", f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0"><object type="Machine" os_index="0" {everything} gp_index="1">
{"".join(map(package, range(4)))}</object>
<distances2 type="NUMANode" nbobjs="4" kind="5" name="NUMALatency" indexing="os">
<indexes length="8">0 1 2 3 </indexes><u64values length="{len(matrix)}">{matrix}</u64values></distances2>
</topology>"""))
            return {level["level"]: level["alpha"] for level in found["levels"]}

        pairs = levels(lambda a, b: 10 if a == b else 16 if a // 2 == b // 2 else 32)
        self.assertEqual(list(pairs)[-2:], ["near16", "machine"])
        self.assertTrue(4e-7 < pairs["near16"] < pairs["machine"])
        self.assertIn("product(dims=2x2x2,saved_steps=0)", self.by_name)
        self.assertEqual(self.by_name["product(dims=2x2x2,saved_steps=0)"]["between_nodes"], "6")
        self.assertEqual(self.traffic("product(dims=2x2x2,saved_steps=0)")["machine"], ("2", "1/4"))
        alike = levels(lambda a, b: 10 if a == b else 21)
        chain = levels(lambda a, b: 10 + 6 * abs(a - b))  # neighbours of neighbours are no neighbours
        self.assertEqual((list(alike), list(chain)), (list(pairs)[:-2] + ["machine"],) * 2)

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
