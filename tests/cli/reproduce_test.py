#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coset reproduce: every figure runs, always alike, and what the sources claim holds as it is said to.

    reproduce_test.py COSET [unittest's arguments]
"""
import csv
import io
import json
import os
import pathlib
import shutil
import unittest
import xml.etree.ElementTree

from command import SMALL, Files, coset

FIGURES = {"kolmakov": ["1", "7", "8", "9", "10", "11", "12", "table1", "table2"],
           "traff": ["example", "counts", "sizes", "ranks"],
           "patarasuk": ["tree1", "tree2", "smp", "lemmas", "routine"],
           "flexreduce": ["2", "volumes", "two", "three"],
           "end": ["table1", "int", "doubles"]}


def reproduced(*arguments):
    result = coset("reproduce", *arguments, "--json")
    assert (result.returncode, result.stderr) == (0, ""), result
    return {(one["source"], one["figure"]): one for one in json.loads(result.stdout)["figures"]}


class Everything(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all = reproduced("--all")

    def values(self, source, figure, **where):
        """By curve, then by setting, ranks and bytes."""
        curves = {}
        for point in self.all[source, figure]["points"]:
            if all(point[key] == value for key, value in where.items()):
                curves.setdefault(point["curve"], {})[point["setting"], point["ranks"], point["bytes"]] = point["value"]
        return curves

    def test_all_figures_are_there_in_their_order(self):
        self.assertEqual(list(self.all), [(source, figure) for source, figures in FIGURES.items() for figure in figures])
        listed = coset("reproduce").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in listed if line.startswith("  ")], sum(FIGURES.values(), []))
        self.assertEqual([line.split(":")[0] for line in listed if not line.startswith("  ")], list(FIGURES))

    def test_each_claim_agrees_or_says_why_it_differs_and_only_then(self):
        for where, figure in self.all.items():
            self.assertGreater(len(figure["claims"]), 0, where)
            for claim in figure["claims"]:
                self.assertEqual(claim["holds"], claim["expected_to_hold"], (where, claim))
                self.assertRegex(claim["verdict"], r"^agrees$" if claim["holds"] else r"^differs because .{20}", (where, claim))

    def test_two_runs_are_identical_and_rows_end_with_verdicts(self):
        second = coset("reproduce", "--all", "--check")
        first = second if SMALL else coset("reproduce", "--all")
        self.assertEqual((first.returncode, first.stdout), (second.returncode, second.stdout))
        rows = [line for line in first.stdout.splitlines() if "; model: " in line]
        self.assertEqual(len(rows), sum(len(figure["claims"]) for figure in self.all.values()))
        for row in rows:
            self.assertRegex(row, r"; (agrees|differs because .*)$")

    def test_times_are_those_of_the_model_by_hand(self):
        rounds, bytes_ = 252, 16384000  # a ring's steps send a P-th each, half of them with a combine
        ring = self.values("kolmakov", "8")["Open MPI"]["", 127, bytes_]
        self.assertAlmostEqual(ring / 1e6, rounds * 3e-5 + bytes_ / 127 * (rounds * 1e-8 + rounds / 2 * 2e-10), 8)
        ring = self.values("patarasuk", "tree1")["tree ring"]["hosts in turn", 32, 1 << 20]
        self.assertAlmostEqual(ring / 1e6, 62 * 5e-5 + (1 << 20) / 32 * (62 * 8e-9 + 31 * 2e-10), 8)
        flex = self.values("flexreduce", "volumes")
        self.assertEqual(flex["ring"]["2 hosts", 4, 480000000], 1.5)
        self.assertEqual(flex["FlexReduce"]["2 hosts", 4, 480000000], 1)

    def test_what_is_compared_is_what_is_drawn(self):
        for source, figure, curve, rivals in [("kolmakov", "7", "best r", ["Open MPI", "recursive halving"]),
                                              ("kolmakov", "10", "best r", ["r = 0", "r = L"]),
                                              ("kolmakov", "11", "best r", ["estimated r"])]:
            curves = self.values(source, figure)
            for place, value in curves[curve].items():
                self.assertLessEqual(value, min(curves[rival][place] for rival in rivals) * (1 + 1e-12), (figure, place))
        below = self.values("kolmakov", "7")["Open MPI"], self.values("kolmakov", "8")["Open MPI"]
        self.assertEqual([len(curve) for curve in below], [15, 13])
        self.assertEqual({p["algorithm"] for p in self.all["kolmakov", "8"]["points"] if p["curve"] == "Open MPI"}, {"ring"})
        self.assertEqual({(p["algorithm"], p["bytes"] < 10000) for p in self.all["kolmakov", "7"]["points"]
                          if p["curve"] == "Open MPI"}, {("recursive_doubling", True), ("ring", False)})
        contention = {(p["setting"], p["curve"]): p["contention"] for p in self.all["patarasuk", "tree2"]["points"]}
        self.assertEqual(contention["hosts in turn", "tree ring"], 1)
        self.assertGreater(contention["hosts in turn", "MPICH"], 2)


class Asked(Files):
    def write(self, name, text):
        path = os.path.join(self.folder, name)
        pathlib.Path(path).write_text(text)
        return path

    def test_unknown_names_are_refused_with_those_that_exist(self):
        broken = self.write("broken.csv", "experiment,ranks,mapping,algorithm,bytes,seconds\nkolmakov,x,shuffled,ring,16,1\n")
        headless = self.write("headless.csv", "experiment,ranks\n")
        for hints, arguments in [(["kolmakow", *FIGURES], ["kolmakow"]),
                                 (["kolmakov", "'2'", *FIGURES["kolmakov"]], ["kolmakov", "2"]),
                                 (["excludes"], ["kolmakov", "--all"]),
                                 (["excludes"], ["kolmakov", "--csv", "--json"]),
                                 (["requires"], ["kolmakov", "--plot", os.path.join(self.folder, "x.svg")]),
                                 (["requires"], ["--plot", os.path.join(self.folder, "x.svg")]),
                                 (["kolmakov table1 has no curves"], ["kolmakov", "table1", "--plot", os.path.join(self.folder, "x.gp")]),
                                 (["--alpha"], ["kolmakov", "7", "--alpha", "-1"]),
                                 (["cannot be read"], ["traff", "--simulation", "/nowhere.csv"]),
                                 (["no column 'mapping'"], ["traff", "--simulation", headless]),
                                 (["line 2"], ["traff", "--simulation", broken])]:
            result = coset("reproduce", *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
            for hint in hints:
                self.assertIn(hint, result.stderr, arguments)

    def test_claims_are_checked_under_the_parameters_that_are_given(self):
        agrees = coset("reproduce", "patarasuk", "tree1", "--check")
        self.assertEqual((agrees.returncode, agrees.stderr), (0, ""))
        slow = coset("reproduce", "patarasuk", "tree1", "--alpha", "0.01")
        self.assertEqual(slow.returncode, 0)
        self.assertIn("differs because the parameters are not the source's", slow.stdout)
        checked = coset("reproduce", "patarasuk", "tree1", "--alpha", "0.01", "--check")
        self.assertEqual((checked.returncode, checked.stdout), (1, slow.stdout))
        self.assertIn("patarasuk tree1: best of all", checked.stderr)
        self.assertEqual(coset("reproduce", "kolmakov", "8", "--check").returncode, 0)  # what is known to differ

    def test_csv_has_a_line_for_each_point_and_claim(self):
        figure = reproduced("flexreduce", "two")["flexreduce", "two"]
        rows = list(csv.DictReader(io.StringIO(coset("reproduce", "flexreduce", "two", "--csv").stdout)))
        self.assertEqual(len(rows), len(figure["points"]) + len(figure["claims"]))
        for row, point in zip(rows, figure["points"]):
            self.assertEqual([row["setting"], row["curve"], row["algorithm"], row["ranks"], row["bytes"]],
                             [point["setting"], point["curve"], point["algorithm"], str(point["ranks"]), str(point["bytes"])])
            self.assertAlmostEqual(float(row["value"]) / point["value"], 1, 8)
        self.assertEqual([row["verdict"] for row in rows[len(figure["points"]):]], [claim["verdict"] for claim in figure["claims"]])

    def test_simulated_times_stand_beside_those_of_the_model(self):
        lines = ["experiment,ranks,mapping,algorithm,bytes,seconds,more",
                 "kolmakov,127,shuffled,recursive_halving,256000,7.000000e-03,x", "kolmakov,127,shuffled,simgrid:ompi,256000,0.02,x",
                 'kolmakov,127,shuffled,"generalized(saved_steps=0,radix=2)",512000,0.0125,x',
                 "kolmakov,127,block,recursive_halving,512000,9,x",
                 "other,127,shuffled,recursive_halving,1024000,9,x"]
        file = self.write("simulated.csv", "\n".join(lines) + "\n")
        points = reproduced("kolmakov", "8", "--simulation", file)["kolmakov", "8"]["points"]
        found = {(p["curve"], p["bytes"]): p["simulated"] for p in points if "simulated" in p}
        self.assertEqual(found.pop(("recursive halving", 256000)), 7000)
        self.assertEqual(found.pop(("Open MPI", 256000)), 20000)
        self.assertEqual(set(found.values()), {12500})
        self.assertEqual({bytes for _, bytes in found}, {512000})
        text = coset("reproduce", "kolmakov", "8", "--simulation", file).stdout
        self.assertRegex(text.splitlines()[2], "recursive halving +simulated")
        self.assertRegex(text, "127 +256000 .* 7000.000\n")
        held = "\n".join([lines[0]] + [
            f'flexreduce,{p["ranks"]},{(p["ranks"] + 1) // 2}+{p["ranks"] // 2},"{p["algorithm"]}",{p["bytes"]},{p["value"] * 1.05 / 1e6:.9g},'
            for p in reproduced("flexreduce", "two")["flexreduce", "two"]["points"]
            if p["setting"] == "inside 10 GB/s"])
        claims = reproduced("flexreduce", "two", "--simulation", self.write("held.csv", held))["flexreduce", "two"]["claims"]
        self.assertEqual((claims[-1]["model"], claims[-1]["verdict"]), ("95 to 95 % of what is simulated", "agrees"))

    def test_plots_have_a_curve_for_each_of_the_figure(self):
        script = os.path.join(self.folder, "curves.gp")
        self.assertEqual(coset("reproduce", "kolmakov", "12", "--plot", script).returncode, 0)
        text = pathlib.Path(script).read_text()
        self.assertEqual(text.count("<< end"), 6)
        self.assertIn("set xlabel 'ranks'", text)
        self.assertEqual(coset("reproduce", "traff", "sizes", "--plot", script).returncode, 0)
        self.assertEqual(pathlib.Path(script).read_text().count("<< end"), 9)
        if shutil.which("gnuplot"):
            picture = os.path.join(self.folder, "curves.svg")
            self.assertEqual(coset("reproduce", "kolmakov", "1", "--plot", picture).returncode, 0)
            words = {word.strip() for word in xml.etree.ElementTree.parse(picture).getroot().itertext()}
            self.assertTrue({"best r by best known, 127 ranks", "bytes"} <= words)


if __name__ == "__main__":
    unittest.main()
