#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What every subcommand does with numbers, files and words that are wrong.

    edges_test.py COSET [unittest's arguments]
"""
import json
import os
import pathlib
import subprocess
import unittest

from command import COSET, LONG, SMALL, TREE, Files, coset, needed, needs_lab


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
        if command == "cost":
            yield from ((["-t", "-r", "--ranks"], False), (["-b", "--bytes"], False))

    @needs_lab
    def test_what_is_no_number_in_range_is_refused_everywhere(self):
        checked = set()
        none = ["-1", "99999999999999999999", "nan", "inf", "1e400", "", "x", "+1", " 1", "1 "]
        for command in ("info", "list", "plan", "cost", "simulate", "bench", "tune"):
            for names, fractions in self.options(command):
                for name in names if not SMALL else names[-1:]:
                    # Other names of an option are parsed as its last one is.
                    for wrong in none[:1] if SMALL or (name != names[-1] and not LONG) else none + ["1.5", "0x10"] * (not fractions):
                        needed = [] if "--ranks" in names else self.NEEDED.get(command, [])
                        result = coset(command, *needed, *(["ring"] if command == "plan" and not needed else []), name, wrong)
                        with self.subTest(command=command, name=name, wrong=wrong):
                            self.assertEqual((result.returncode, result.stdout), (2, ""))
                            self.assertIn(names[-1], result.stderr)
                            checked.add((command, names[-1]))
        expected = {("plan", "--root"), ("plan", "--radix"), ("cost", "--alpha"), ("cost", "--bytes")}
        expected |= {(command, "--ranks") for command in ("info", "list", "plan", "cost", "simulate")}
        expected |= {("tune", "--ranks")} | {("bench", option) for option in (
            "--ranks", "--min-bytes", "--max-bytes", "--factor", "--sizes", "--iterations", "--warmup", "--rounds", "--threads")}
        self.assertLessEqual(expected, checked)

    @needs_lab
    def test_sizes_have_units(self):
        head = lambda text: coset("cost", "-t", 2, "-b", text).stdout.splitlines()[0].split()[2]
        for text, bytes in (("64K", 65536), ("64kb", 65536), ("1MiB", 1 << 20), ("3B", 3), ("1024T", 1 << 50)):
            self.assertEqual(head(text), str(bytes))
        for wrong in ("0", "1025T", "1P", "K", "1.5M", "1KK", "-1K"):
            self.assertEqual(coset("cost", "-b", wrong).returncode, 2, wrong)

    @needs_lab
    def test_ranks_have_the_same_letter_in_all_commands(self):
        for command in (["list"], ["cost"], ["plan", "--plan", "ring"], ["info", "--topology", "core:8 pu:1"]):
            answers = {coset(*command, letter, 4).stdout for letter in ("-t", "-r", "--ranks")}
            self.assertEqual(len(answers), 1, command)
            self.assertNotEqual(answers, {""})


class Output(Files):
    def commands(self):
        yield from (["list"], ["--help"], ["--version"], ["cost"], ["reproduce", "kolmakov", "7"], ["cost", "--topology", "core:2 pu:1"],
                    ["info", "--topology", "core:2 pu:1"], ["info", "--topology", "core:2 pu:1", "--json"], ["info", "-t", "1"],
                    ["info", "-t", "1", "--json"], ["generate", "tree_ring", "--tree", self.file(TREE)])
        for form in ("--text", "--json", "--dot", "--svg", "--check"):
            yield ["plan", "--plan", "ring", "-t", "40", form]

    def assertFails(self, command, **where):
        run = subprocess.run([COSET, *command], stderr=subprocess.PIPE, text=True, timeout=120, check=False, **where)
        self.assertEqual(run.returncode, 1, (command, run.stderr))
        self.assertIn("standard output could not be written", run.stderr)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no full device here")
    @needs_lab
    def test_a_full_disk_is_exit_status_1(self):
        for command in self.commands():
            with open("/dev/full", "w", encoding="utf-8") as full:
                self.assertFails(command, stdout=full)

    @needs_lab
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


class BadInput(Files):
    def assertRefused(self, hint, *arguments):
        result = coset(*arguments)
        self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
        self.assertIn(hint, result.stderr, arguments)

    @needs_lab
    def test_arguments_that_no_plan_can_serve_are_refused_with_what_would_do(self):
        self.assertRefused("from 1 to", "plan", "--plan", "ring", "-r", 0)
        self.assertRefused("at least 2", "plan", "--plan", "binomial", "-r", 4, "--radix", 1)
        self.assertRefused("radix", "plan", "--plan", "generalized", "-r", 4, "--radix", 1)
        self.assertRefused("saved_steps", "plan", "--plan", "generalized", "-r", 7, "--saved-steps", 4)
        self.assertRefused("product of dims", "plan", "--plan", "product", "-r", 12, "--group", "4x4")
        self.assertRefused("bruck_ho", "plan", "--plan", "adapted_dissemination(n=1)", "-r", 13)
        self.assertRefused("not 8", "plan", "--plan", "unequal", "-r", 8, "--nodes", "5,2")
        self.assertRefused("root 4", "plan", "--plan", "binomial", "-r", 4, "-c", "reduce", "--root", 4)
        self.assertRefused("there are", "plan", "--plan", "rong", "-r", 4)
        self.assertRefused("there are", "plan", "--plan", "ring", "-r", 4, "-c", "transpose")
        self.assertRefused("given twice", "plan", "--plan", "generalized(radix=2)", "-r", 4, "--radix", 2)
        self.assertRefused("there are 1, 7", "reproduce", "kolmakov", 2)
        self.assertRefused("from 1 to", "cost", "-r", 0)
        self.assertRefused("not a whole number of ranks", "plan", "--plan", "unequal", "-r", 4, "--nodes", "2,x")
        self.assertRefused("whole numbers", "plan", "--plan", "unequal(nodes=2+x)", "-r", 4)
        self.assertRefused("whole numbers", "plan", "--plan", "generalized(saved_steps=-1)", "-r", 4)
        self.assertRefused("whole numbers", "plan", "--plan", "generalized(radix=4294967298)", "-r", 4)
        self.assertRefused("too many to write out", "plan", "--plan", "direct", "-r", 100000)
        self.assertRefused("too many to write out", "plan", "--plan", "binomial", "-r", 4000000000)
        self.assertRefused("too many to write out", "cost", "-r", 4000000000)

    def test_words_that_contradict_or_mean_nothing_are_refused(self):
        for words in (["plan", "reduce", "1K", "extra", "--plan", "ring", "--ranks", 2], ["plan", "reduce", "junk", "--plan", "ring", "--ranks", 2],
                      ["plan", "reduce", "-c", "scan", "--plan", "ring", "--ranks", 2], ["cost", "--plan", "ring", "--plan", "rng"],
                      ["cost", "reduce", "--collective", "scan"], ["reproduce", "--json"], ["list", "--ranks", 4294967295]):
            refused = coset(*words)
            with self.subTest(words=words):
                self.assertEqual((refused.returncode, refused.stdout), (2, ""))
                self.assertNotIn("is now written", refused.stderr)

    @needs_lab
    def test_arguments_that_the_command_does_not_know_are_refused(self):
        self.assertRefused("--ranks", "plan", "--plan", "ring")
        self.assertRefused("", "plan", "--plan", "ring", "-r", "many")
        self.assertRefused("", "plan", "--plan", "ring", "-r", 4, "--json", "--dot")
        self.assertRefused("no command 'plain'; it has info, list", "plain")
        self.assertRefused("no command 'tree'; it has mpi, goal, replay, msccl, tree_ring", "generate", "tree")
        self.assertRefused("")

    @needs_lab
    def test_forms_that_go_away_still_work_and_say_once_how_to_write_them(self):
        for new, old in (
                ("coset plan allreduce --plan ring", ["plan", "ring", "-r", 4]),
                ("coset plan allreduce --plan ring --plan direct", ["plan", "ring", "direct", "-r", 4, "--html"]),
                ("coset plan reduce --plan binomial", ["plan", "--plan", "binomial", "-r", 4, "-c", "reduce"]),
                ('coset cost reduce 1K --plan "generalized(radix=3)"', ["cost", "generalized(radix=3)", "-c", "reduce", "-b", "1K", "-r", 4]),
                ("coset trace allreduce 64", ["trace", "-b", 64, "-n", 2, "-t", 1, "-o", os.path.join(self.folder, "t.json")]),
                ("coset bench allreduce 8 64", ["bench", "--sizes", "8,64", "-n", 2, "--rounds", 1, "-t", 1, "--against", "std"])):
            result = coset(*old)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stderr, f"coset: note: this is now written {new} …; the next version refuses the old form\n")

    @needs_lab
    def test_one_grammar_names_verb_sizes_and_algorithms(self):
        machine = ["--topology", "core:4 pu:1"]
        for command in (["why", "reduce", "1K", *machine, "--plan", "binomial"], ["plan", "reduce", "1K", "--ranks", 2],
                        ["plan", "reduce", "1K", "--ranks", 2, "--plan", "binomial"],
                        ["cost", "reduce", "1K", "4K", "--ranks", 4, "--plan", "binomial", "--plan", "direct"],
                        ["trace", "reduce", "1K", "--ranks", 1, "-n", 2, "-o", os.path.join(self.folder, "t.json")],
                        ["bench", "reduce", "1K", "4K", "--ranks", 1, "-n", 2, "--rounds", 1, "--against", "std"]):
            result = coset(*command)
            self.assertEqual((result.returncode, result.stderr), (0, ""), command)

    def test_words_that_are_misspelt_get_the_one_that_may_have_been_meant(self):
        for meant, arguments in (
                ("why", ["wyh"]), ("cost", ["cots"]), ("allreduce", ["why", "allredcue"]), ("scatter_add", ["why", "scatter_ad"]),
                ("allreduce", ["bench", "allredcue"]), ("gather", ["trace", "gahter"]), ("ring", ["plan", "--plan", "rign", "-r", 4]),
                ("broadcast", ["plan", "--plan", "ring", "-r", 4, "-c", "brodcast"]), ("radix", ["plan", "--plan", "generalized(radx=3)", "-r", 4]),
                ("staged", ["trace", "--plan", "direct/stagd", "-t", 1, "-o", "/dev/null"]), ("float", ["bench", "-d", "flaot"]),
                ("prod", ["bench", "-o", "prdo"]), ("core", ["info", "--topology", "node:2 cor:4"]),
                ("machine", ["info", "--topology", "machne"]), ("--json", ["why", "--jsno"]), ("--ranks", ["list", "--rank=4"]),
                ("scatter", ["info", "--place", "scattr"]), ("bench", ["manual", "benhc"])):
            self.assertRefused(f"; did you mean '{meant}'?", *arguments)

    @needs_lab
    def test_trees_that_are_none_are_refused_with_the_reason(self):
        for hint, tree in [
            ("cycle", {"a": ["b"], "b": ["a", 0]}),
            ("rank 1 is not connected", {"a": [0, 2]}),
            ("not connected", {"a": [0], "b": [1]}),
            ("two parents", {"a": [0, 0]}),
        ]:
            path = self.file({"tree": tree})
            self.assertRefused(hint, "generate", "tree_ring", "--tree", path)
            self.assertRefused(hint, "plan", "--plan", "tree_ring", "-r", 2, "--tree", path)
        self.assertRefused("not 4", "plan", "--plan", "tree_ring", "-r", 4, "--tree", self.file(TREE))
        self.assertRefused("cannot be read", "generate", "tree_ring", "--tree", "/nowhere.json")

    def test_what_a_plan_in_a_file_says_is_not_said_again(self):
        path = self.file(json.loads(coset("plan", "--plan", "ring", "-r", 4, "--json").stdout))
        for option in (["--ranks", 4], ["-c", "allreduce"], ["--root", 0], ["--radix", 2], ["--saved-steps", 0],
                       ["--group", "2x2"], ["--nodes", "2,2"], ["--tree", path]):
            self.assertRefused("itself sets", "plan", "--plan", path, *option)
        self.assertRefused("cannot be read", "plan", "/nowhere.json")
        folder = os.path.join(self.folder, "folder.json")
        os.mkdir(folder)
        self.assertRefused("is a directory", "plan", folder)
        self.assertRefused(folder, "plan", "--plan", "tree_ring", "-r", 4, "--tree", folder)

    @needs_lab
    def test_what_is_no_file_is_refused_wherever_a_file_is_read(self):
        pipe, folder = os.path.join(self.folder, "pipe.json"), os.path.join(self.folder, "directory.json")
        os.mkfifo(pipe)
        os.mkdir(folder)
        readers = [["plan"], ["cost", "--plan"], ["cost", "ring", "--links"], ["plan", "--plan", "tree_ring", "-r", 4, "--tree"],
                   ["generate", "mpi"], ["generate", "tree_ring", "--tree"], ["simulate", "--costs"],
                   ["reproduce", "traff", "--simulation"], ["trace", "--summary"], ["trace", "--merge"],
                   ["why", "allreduce", 8, "--links"], ["info", "--topology"], ["cost", "--topology"]]
        for path, reason in ((pipe, "is a pipe or device, not a file"), (folder, "is a directory"),
                             ("/nowhere.json", "cannot be read: No such file or directory")):
            for reader in readers:
                if path == "/nowhere.json" and reader[-1] == "--topology":
                    path = "/nowhere.xml"  # another name is a synthetic description
                self.assertRefused(reason, *reader, path)
            for name, value, command in (("COSET_TUNING", path, ["info"]), ("COSET_ALLREDUCE", f"plan(file={path})", ["trace", "-o", "/dev/null"]),
                                         ("HWLOC_XMLFILE", path, ["info"]), ("HWLOC_XMLFILE", path, ["why", "reduce", "8"])):
                run = subprocess.run([COSET, *command], capture_output=True, text=True, timeout=120, check=False,
                                     env={**os.environ, name: value})
                self.assertIn(reason, run.stderr + run.stdout, (name, command))
                self.assertEqual(run.returncode, 2, (name, command))

    def test_machines_that_hwloc_cannot_read_are_refused_by_variable_and_value(self):
        for setting in ("HWLOC_XMLFILE=/nowhere.xml", "HWLOC_SYNTHETIC=nonsense:2", "HWLOC_FSROOT=/nowhere",
                        "HWLOC_FSROOT=" + self.folder, "HWLOC_CPUID_PATH=" + self.folder):
            name, value = setting.split("=")
            for command in (["info"], ["info", "--topology", "machine"], ["why", "allreduce", "8"], ["trace"]):
                run = subprocess.run([COSET, *command], capture_output=True, text=True, timeout=120, check=False,
                                     env={**os.environ, name: value})
                self.assertEqual((run.returncode, run.stdout), (2, ""), (setting, command))
                self.assertIn(setting, run.stderr, command)

    def test_the_manual_page_has_every_command(self):
        page = pathlib.Path(__file__, "../../../docs/coset.1").resolve().read_text(encoding="utf-8")
        commands = coset("--help").stdout.split("Subcommands:")[1].split()
        for command in ("info", "tune", "bench", "list", "plan", "cost", "generate"):
            self.assertIn(command, commands)
            self.assertIn(f".It Cm {command} ", page)

    @needs_lab
    def test_help_is_everywhere(self):
        for command in [[], ["list"], ["plan"], ["cost"], ["generate"], ["generate", "tree_ring"]]:
            result = coset(*command, "--help")
            self.assertEqual(result.returncode, 0, command)
            self.assertIn("Usage", result.stdout, command)


if __name__ == "__main__":
    unittest.main()
