#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coset reproduce: every claim of the sources has its row, rows can fail on both sides, and verdicts are those that are known.

    reproduce_test.py COSET [unittest's arguments]
"""
import csv
import io
import json
import math
import os
import pathlib
import re
import shutil
import unittest
import xml.etree.ElementTree

from command import SMALL, Files, coset

CLAIMS_FOLDER = pathlib.Path(__file__).resolve().parents[2] / "src/lab/reproduce/claims"

# What the sources claim. Rows beside these are errata.
CLAIMS = {
    "kolmakov": ("KZ", """s0a s0b s1a s1b s1c s1d s1e s1f s1g 1a 1b 1c 1d s2 s3a s3b s3c s3d s3e s3f s3g s3h s3i s4 t1 s5a 3 s5b
                 e15 4 5 e25 s7a s7b s7c s8a 6 e32 s8b e36 e37a e37b s8c s9a e44 s9b t2 s10a s10b s10c 7a 7b 7c 7d 8a 9a 9b 10a
                 10b 11a 11b 11c 11d 11e 12a 12b s11a s11b f1 f2"""),
    "traff": ("T", " ".join(str(number) for number in range(1, 25))),
    "patarasuk": ("PY", """l1a l1b l2 l3 s3a a1 a2 a3 s2a s2b 3 s3b l4 l5 s3c s3d s3e 5a 5b 5c 5d 5e 5f 6a 6b 6c 8a 8b 8c 8d 8e 8f
                  8g s3f s4a s4b s4c"""),
    "flexreduce": ("FR", """a1 s1 s2a s2b s2c 1 s2d s2e e2 e3 e6a e6b 2a 2b 3a 3b 3c 3f 3d 3e e12a e12b 4c 4ab 4a2 4b3 4a4 4x 5a 5b
                   5c 4d 4e 4g 4f 6 f1"""),
    "end": ("E", """s1a s1b s1c s1d s1e 1a 1b s3a s3b s3c 2 t1 e3 e4 s3k s3d 3 e8 th1 4 e24 s3e s3f s3g s3h s3i s3j 6 s4a s4b 7a 7b
            7c 7d 7e 7f 7g 7h 7i 7j 11a 11b 13a 13b 13c 5a 5b 5c f1 f2 f3""")}
FIGURES = {"kolmakov": ["1", "7", "8", "9", "10", "11", "12"], "traff": ["sizes"], "patarasuk": ["tree1", "tree2", "smp"],
           "flexreduce": ["volumes", "two", "three"], "end": ["int", "doubles"]}
MEANS = ["counts", "model", "simulation", "run"]


def reproduced(*arguments):
    result = coset("reproduce", *arguments, "--json")
    assert (result.returncode, result.stderr) == (0, ""), result
    return json.loads(result.stdout)


def drawn(source, figure, *arguments):
    return reproduced(source, figure, *arguments)["points"]


def has(text, value):
    """Whether a range has a number: written here once more, so that neither can be wrong alone."""
    close = 1e-9 * max(1, abs(value)) if math.isfinite(value) else 0

    def one(part):
        if part.startswith("not "):
            return not one(part[4:])
        if ".." in part:
            least, most = (float(end) for end in part.split(".."))
            return least - close <= value <= most + close
        sign, number = re.fullmatch(r"(<=|>=|<|>|=) *(\S+)", part).groups()
        number = float(number)
        return {"<=": value <= number + close, ">=": value >= number - close, "<": value < number - close,
                ">": value > number + close, "=": abs(value - number) <= close}[sign]

    return any(one(part.strip()) for part in text.split(" or "))


def numbers_of(values):
    """JSON has no infinite numbers."""
    return [math.inf if one["value"] is None else one["value"] for one in values]


def is_of(setting, unknown, asks, label):
    def has(words):
        return label.endswith(words) or words in asks
    return has(setting) or not any(has(words) for words in unknown)


def verdict(agrees, disagrees, values, unknown=(), asks=""):
    """Of all numbers; where the source's setting is unknown of those of each that it may be, and open if these differ."""
    if unknown:
        by_setting = [[one for one in values if is_of(setting, unknown, asks, one["of"])] for setting in unknown]
        found = {verdict(agrees, disagrees, some) for some in by_setting if some}
        return found.pop() if len(found) == 1 else "undecided"
    numbers = numbers_of(values)
    if any(has(disagrees, number) for number in numbers):
        return "disagrees"
    return "agrees" if all(has(agrees, number) for number in numbers) else "undecided"


class Everything(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all = {one["source"]: one for one in reproduced("--all", "--check")["sources"]}
        cls.answers = [(claim["id"], answer | {"unknown": claim["unknown"]})
                       for one in cls.all.values() for claim in one["claims"] for answer in claim["answers"]]

    def test_every_claim_has_its_row(self):
        for source, (prefix, ids) in CLAIMS.items():
            rows = {claim["id"] for claim in self.all[source]["claims"]}
            errata = {row for row in rows if re.match(rf"{prefix}-x\d", row)}
            self.assertEqual(rows - errata, {f"{prefix}-{one}" for one in ids.split()})
        self.assertEqual(sum(len(ids.split()) for _, ids in CLAIMS.values()), 219)
        self.assertEqual(list(self.all), list(CLAIMS))

    def test_claims_that_do_not_agree_say_why_in_a_sentence(self):
        for source in self.all.values():
            for claim in source["claims"]:
                self.assertGreater(len(claim["says"]), 2, claim)
                if claim["verdict"] in ("disagrees", "undecided"):
                    self.assertRegex(claim["because"], r".{20}", claim["id"])
                if not claim["answers"]:
                    self.assertRegex(claim["not_judged"], r".{10}", claim["id"])

    def test_verdicts_follow_from_numbers_and_a_range_turned_round_turns_the_verdict(self):
        decided = 0
        for name, one in self.answers:
            if one["verdict"] == "no numbers":
                continue
            setting = one["unknown"], one["asks"]
            self.assertEqual(one["verdict"], verdict(one["agrees"], one["disagrees"], one["values"], *setting), (name, one))
            turned = verdict(one["disagrees"], one["agrees"], one["values"], *setting)
            if one["verdict"] == "agrees":
                decided += 1
                self.assertEqual(turned, "disagrees", (name, one))
            elif all(has(one["disagrees"], number) for number in numbers_of(one["values"])):
                self.assertEqual(turned, "agrees", (name, one))
        self.assertGreater(decided, 200)

    def test_no_question_can_only_agree(self):
        for name, one in self.answers:
            for number in [-1e9, -1, 0, 0.5, 1, 2, 10, 1e9]:
                self.assertFalse(has(one["agrees"], number) and has(one["disagrees"], number), (name, one))
            for side in ("agrees", "disagrees"):
                ends = [float(end) for end in re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", one[side])]
                near = [end * factor for end in ends for factor in (1, 0.999, 1.001)] + [end + 1 for end in ends] + [-1]
                self.assertTrue(any(has(one[side], number) for number in near), (name, side, one[side]))

    def test_two_runs_are_identical(self):
        if not SMALL:
            self.assertEqual({one["source"]: one for one in reproduced("--all")["sources"]}, self.all)
        first, second = coset("reproduce", "traff"), coset("reproduce", "traff")
        self.assertEqual(first.stdout, second.stdout)
        self.assertRegex(first.stdout.splitlines()[-1], r"^24 claims: \d+ agree, \d+ disagree, \d+ undecided, \d+ not judged here$")

    def test_tallies_are_those_of_the_claims(self):
        for source in self.all.values():
            verdicts = [claim["verdict"] for claim in source["claims"]]
            for key in ("agree", "disagree", "undecided"):
                self.assertEqual(source[key], verdicts.count(key if key == "undecided" else key + "s"))


class Asked(Files):
    def write(self, name, text):
        path = os.path.join(self.folder, name)
        pathlib.Path(path).write_text(text, encoding="utf-8")
        return path

    def mine(self, row):
        head = 'source { name = "mine", paper = "A paper" }\n'
        return self.write("mine.lua", head + 'claim { id = "M-1", where = "section 1", says = "the ring sends least", ' + row + " }\n")

    def test_a_predicate_turned_round_is_noticed(self):
        text = (CLAIMS_FOLDER / "traff.lua").read_text(encoding="utf-8").replace('name = "traff"', 'name = "turned"')
        text = text.replace('id = "T-', 'id = "U-')
        self.assertIn('agrees = "= 0",\n  disagrees = "> 0"', text)
        turned = text.replace('agrees = "= 0",\n  disagrees = "> 0"', 'agrees = "> 0",\n  disagrees = "= 0"', 1)
        for file, code in ((text, 0), (turned, 1)):
            result = coset("reproduce", "turned", "--check", "--claims", self.write("turned.lua", file))
            self.assertEqual(result.returncode, code, result.stderr)
        self.assertRegex(result.stderr, r"^U-\d+: by counts: disagrees, not agrees\n$")

    def test_own_claims_are_judged_as_the_sources_are(self):
        shown = {}
        for number, words in ((5, "agrees"), (6, "undecided"), (7, "disagrees")):
            file = self.mine(f'asks = "a number", counts = function() return {number} end, agrees = "<= 5", disagrees = ">= 7"')
            shown[words] = coset("reproduce", "--id", "M-1", "--claims", file).stdout
            self.assertIn(f"found: {words}\n", shown[words])
        self.assertEqual(shown["agrees"].splitlines()[:3], ['M-1 (section 1): "the ring sends least"', "  a number, by counts: 5",
                                                            "    agrees: <= 5; disagrees: >= 7; found: agrees"])
        never = self.mine('asks = "a size", counts = function() return math.huge end, agrees = "8..32", disagrees = "not 8..32"')
        self.assertIn("found: disagrees\n", coset("reproduce", "--id", "M-1", "--claims", never).stdout)
        both = coset("reproduce", "--id", "M-1,M-7", "--claims", never)
        self.assertEqual(both.returncode, 2)
        self.assertIn("no claim is called 'M-7'", both.stderr)
        several = self.mine('asks = "shares", model = function() return {{"2 ranks", 1}, {"3 ranks", 0.5}} end, agrees = "= 1", disagrees = "< 0.6"')
        answer = reproduced("mine", "--claims", several)["sources"][0]["claims"][0]["answers"][0]
        self.assertEqual(answer["values"], [{"of": "2 ranks", "value": 1}, {"of": "3 ranks", "value": 0.5}])
        self.assertEqual((answer["verdict"], answer["found"]), ("disagrees", "0.5 to 1"))

    def test_settings_that_are_unknown_leave_a_claim_open_only_where_they_differ(self):
        for numbers, found in (((1, 1), "agrees"), ((0, 0), "disagrees"), ((1, 0), "undecided")):
            cases = "{" + ", ".join(f'{{"2 ranks, {where}", {number}}}' for where, number in zip(("block", "in turn"), numbers)) + "}"
            file = self.mine(f'asks = "a number", unknown = {{"block", "in turn"}}, counts = function() return {cases} end, '
                             f'agrees = "= 1", disagrees = "= 0", finds = "{found}", because = "of a reason that is known well"')
            claim = reproduced("mine", "--claims", file, "--check")["sources"][0]["claims"][0]
            self.assertEqual((claim["verdict"], claim["answers"][0]["verdict"]), (found, found))

    def test_means_that_contradict_each_other_leave_a_claim_open(self):
        file = self.mine('asks = "a number", counts = function() return 1 end, model = function() return 0 end, agrees = "= 1", '
                         'disagrees = "= 0", finds = {model = "disagrees"}, because = "of a reason that is known well"')
        claim = reproduced("mine", "--claims", file, "--check")["sources"][0]["claims"][0]
        self.assertEqual([claim["verdict"]] + [one["verdict"] for one in claim["answers"]], ["undecided", "agrees", "disagrees"])

    def test_files_that_are_wrong_are_refused_with_their_place(self):
        question = 'asks = "a number", counts = function() return 1 end, '
        for hint, row in [("M-1 has no 'disagrees'", question + 'agrees = "= 1"'),
                          ("'about 1' is no range", question + 'agrees = "about 1", disagrees = "= 0"'),
                          ("either a question or 'not_judged'", 'not_judged = ""'),
                          ("either a question or 'not_judged'", question + 'agrees = "= 1", disagrees = "= 0", not_judged = "no"'),
                          ("'differs', which is none of agrees", question + 'agrees = "= 1", disagrees = "= 0", finds = "differs"'),
                          ("has no 'because'", question + 'agrees = "= 1", disagrees = "= 0", finds = "disagrees"'),
                          ("both agrees (>= 1) and disagrees (<= 1)", question + 'agrees = ">= 1", disagrees = "<= 1"'),
                          ("mine.lua: a claim is a table", 'not_judged = "no" } claim(5) claim { id = "M-2", where = "x", says = "y", not_judged = "no"'),
                          ("mine.lua:2: boom", 'asks = "x", counts = function() error("boom") end, agrees = "= 1", disagrees = "= 0"'),
                          ("mine.lua:2", "asks = "),
                          ("claim M-1 has 'becuase'; known are", question + 'agrees = "= 1", disagrees = "= 0", becuase = "x"'),
                          ("claim M-1: a number is none", 'asks = "x", counts = function() return 0/0 end, agrees = "= 1", disagrees = "= 0"'),
                          ("claim M-1: x: a function is to return", 'asks = "x", counts = function() return "fast" end, agrees = "= 1", disagrees = "= 0"'),
                          ("claim M-1: x: a case has no number", 'asks = "x", counts = function() return {{"a", "b"}} end, agrees = "= 1", disagrees = "= 0"'),
                          ("there are two claims M-1", 'not_judged = "no" } claim { id = "M-1", where = "x", says = "y", not_judged = "no"'),
                          ("mine.lua:2: unknown algorithm 'rign'", 'asks = "x", counts = function() return counts("rign", 4).steps end, agrees = "= 1", disagrees = "= 0"'),
                          ("attempt to index a nil value (global 'io')", 'asks = "x", counts = function() return io.open("/etc/passwd") end, agrees = "= 1", disagrees = "= 0"')]:
            result = coset("reproduce", "mine", "--claims", self.mine(row))
            self.assertEqual((result.returncode, result.stdout), (2, ""), row)
            self.assertIn(hint, result.stderr)

    def test_a_file_begins_with_its_source(self):
        bare = self.write("bare.lua", '\nclaim { id = "M-1", where = "x", says = "y", not_judged = "no" }\n')
        result = coset("reproduce", "--claims", bare)
        self.assertEqual(result.returncode, 2)
        self.assertIn("bare.lua:2: a file begins with source", result.stderr)
        self.assertEqual(coset("reproduce", "--check").returncode, 2)  # of what?

    def test_unknown_names_are_refused_with_those_that_exist(self):
        broken = self.write("broken.csv", "experiment,ranks,mapping,algorithm,bytes,seconds\nkolmakov,x,shuffled,ring,16,1\n")
        twice = self.write("twice.csv", "experiment,ranks,mapping,algorithm,bytes,seconds\n" + "kolmakov,4,shuffled,ring,16,1\n" * 2)
        headless = self.write("headless.csv", "experiment,ranks\n")
        for hints, arguments in [(["kolmakow", *FIGURES], ["kolmakow"]),
                                 (["kolmakov", "'2'", *FIGURES["kolmakov"]], ["kolmakov", "2"]),
                                 (["no claim is called 'KZ-11x'", "did you mean 'KZ-11"], ["--id", "KZ-11x"]),
                                 (["excludes"], ["kolmakov", "--all"]),
                                 (["excludes"], ["kolmakov", "--csv", "--json"]),
                                 (["requires"], ["kolmakov", "--plot", os.path.join(self.folder, "x.svg")]),
                                 (["--alpha"], ["kolmakov", "7", "--alpha", "-1"]),
                                 (["cannot be read"], ["traff", "--simulation", "/nowhere.csv"]),
                                 (["cannot be read"], ["traff", "--claims", "/nowhere.lua"]),
                                 (["no column 'mapping'"], ["traff", "--simulation", headless]),
                                 (["line 2"], ["traff", "--simulation", broken]),
                                 (["line 3", "says again"], ["traff", "--simulation", twice])]:
            result = coset("reproduce", *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
            for hint in hints:
                self.assertIn(hint, result.stderr, arguments)

    def test_claims_are_judged_under_the_parameters_that_are_given(self):
        slow = coset("reproduce", "--id", "T-19", "--alpha", "1e-9", "--check")
        self.assertEqual(slow.returncode, 1)
        self.assertRegex(slow.stderr, r"^T-19: by model: disagrees, not agrees")
        self.assertEqual(coset("reproduce", "--id", "T-19", "--check").returncode, 0)

    def test_sources_and_figures_are_listed(self):
        listed = coset("reproduce").stdout
        self.assertEqual(re.findall(r"^(\w+): ", listed, re.MULTILINE), list(CLAIMS))
        self.assertEqual(re.findall(r"figures: (.*)$", listed, re.MULTILINE), [", ".join(names) for names in FIGURES.values()])

    def test_csv_has_a_line_for_each_question_and_for_each_point(self):
        claims = reproduced("flexreduce")["sources"][0]["claims"]
        rows = list(csv.DictReader(io.StringIO(coset("reproduce", "flexreduce", "--csv").stdout)))
        self.assertEqual([(row["claim"], row["asks"]) for row in rows],
                         [(claim["id"], asks) for claim in claims for asks in [one["asks"] for one in claim["answers"]] or [""]])
        points = drawn("flexreduce", "two")
        rows = list(csv.DictReader(io.StringIO(coset("reproduce", "flexreduce", "two", "--csv").stdout)))
        self.assertEqual(len(rows), len(points))
        for row, point in zip(rows, points):
            self.assertEqual([row["setting"], row["curve"], row["ranks"], row["bytes"]],
                             [point["setting"], point["curve"], str(point["ranks"]), str(point["bytes"])])


class Figures(Files):
    def test_times_are_those_of_the_model_by_hand(self):
        rounds, bytes_ = 252, 16384000  # a ring's steps send a P-th each, half of them with a combine
        ring = next(p for p in drawn("kolmakov", "8") if p["curve"] == "Open MPI" and p["bytes"] == bytes_)
        self.assertAlmostEqual(ring["value"] / 1e6, rounds * 3e-5 + bytes_ / 127 * (rounds * 1e-8 + rounds / 2 * 2e-10), 8)
        ring = next(p for p in drawn("patarasuk", "tree1")
                    if (p["curve"], p["setting"], p["bytes"]) == ("tree ring", "hosts in turn", 1 << 20))
        self.assertAlmostEqual(ring["value"] / 1e6, 62 * 5e-5 + (1 << 20) / 32 * (62 * 8e-9 + 31 * 2e-10), 8)
        flex = {(p["curve"], p["ranks"]): p["value"] for p in drawn("flexreduce", "volumes") if p["setting"] == "2 hosts"}
        self.assertEqual((flex["ring", 4], flex["FlexReduce", 4]), (1.5, 1))

    def test_simulated_times_stand_beside_those_of_the_model(self):
        lines = ["experiment,ranks,mapping,algorithm,bytes,seconds,more",
                 "kolmakov,127,shuffled,simgrid:rab_rdb,256000,7.000000e-03,x",
                 'kolmakov,127,shuffled,"generalized(saved_steps=0,radix=2)",512000,0.0125,x',
                 "kolmakov,127,block,simgrid:rab_rdb,512000,9,x", "other,127,shuffled,simgrid:rab_rdb,1024000,9,x"]
        path = os.path.join(self.folder, "simulated.csv")
        pathlib.Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
        found = {(p["curve"], p["bytes"]): p["simulated"] for p in drawn("kolmakov", "8", "--simulation", path) if "simulated" in p}
        self.assertEqual(found.pop(("recursive halving", 256000)), 7000)
        self.assertEqual(set(found.values()), {12500})
        self.assertEqual({bytes_ for _, bytes_ in found}, {512000})
        text = coset("reproduce", "kolmakov", "8", "--simulation", path).stdout
        self.assertRegex(text.splitlines()[2], "recursive halving +simulated")

    def test_kept_simulated_times_arrive_where_figures_ask_for_them(self):
        for source, figure in [("kolmakov", "7"), ("kolmakov", "11"), ("kolmakov", "12"), ("patarasuk", "tree1"), ("patarasuk", "smp"),
                               ("flexreduce", "two")]:
            self.assertTrue(any("simulated" in point for point in drawn(source, figure)), (source, figure))

    def test_plots_have_a_curve_for_each_of_the_figure(self):
        script = os.path.join(self.folder, "curves.gp")
        self.assertEqual(coset("reproduce", "kolmakov", "12", "--plot", script).returncode, 0)
        text = pathlib.Path(script).read_text(encoding="utf-8")
        self.assertGreaterEqual(text.count("<< end"), len({p["curve"] for p in drawn("kolmakov", "12")}))
        self.assertIn("set xlabel 'ranks'", text)
        if shutil.which("gnuplot"):
            picture = os.path.join(self.folder, "curves.svg")
            self.assertEqual(coset("reproduce", "traff", "sizes", "--plot", picture).returncode, 0)
            words = {word.strip() for word in xml.etree.ElementTree.parse(picture).getroot().itertext()}
            self.assertIn("bytes", words)


if __name__ == "__main__":
    unittest.main()
