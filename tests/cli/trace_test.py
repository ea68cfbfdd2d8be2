#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coset trace, and COSET_TRACE in a program: this command is one.

    trace_test.py COSET [unittest's arguments]
"""
import collections
import json
import os
import re
import subprocess
import unittest

from command import COSET, VERBS, Files, coset


class Trace(Files):
    def path(self, name):
        return os.path.join(self.folder, name)

    def test_every_verb_is_traced_and_told_again_from_its_file(self):
        for verb in set(VERBS) - {"exclusive_scan"} | {"reduce_shared"}:
            file = self.path(verb + ".json")
            result = coset("trace", verb, "8K", "-t", 2, "-n", 3, "-o", file)
            self.assertEqual((result.returncode, result.stderr), (0, ""), verb)
            told = coset("trace", "--summary", file)
            self.assertEqual((told.returncode, told.stderr), (0, ""), verb)
            self.assertTrue(result.stdout.startswith(told.stdout), verb + "\n" + result.stdout + told.stdout)
            self.assertIn("longest wait: ", told.stdout)
            with open(file, encoding="utf-8") as from_file:
                events = json.load(from_file)["traceEvents"]
            calls = [e for e in events if e.get("cat") == "operation"]
            self.assertEqual(len(calls), 6, verb)
            self.assertEqual({e["args"]["operation"].split()[0] for e in calls}, {verb})

    def program(self, **variables):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("OMPI_") and not k.startswith("PMI")}
        return subprocess.run([COSET, "trace", "-t", "2", "-n", "3", "-o", self.path("own.json")], capture_output=True,
                              text=True, timeout=120, env=environment | variables, check=True)

    def test_a_program_writes_the_file_that_the_environment_names(self):
        self.program(COSET_TRACE=self.path("t.json"))
        self.assertIn("operations", coset("trace", "--summary", self.path("t.json")).stdout)
        self.program(COSET_TRACE=self.path("t.json"), OMPI_COMM_WORLD_RANK="3", COSET_TRACE_EVENTS="32")
        with open(self.path("t.3.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["otherData"]["process"], 3)
        self.assertEqual(set(os.listdir(self.folder)), {"t.json", "t.3.json", "own.json"})
        merged = coset("trace", "--merge", self.path("t.3.json"), self.path("t.json"), "-o", self.path("all.json"))
        self.assertEqual((merged.returncode, merged.stderr), (0, ""))
        with open(self.path("all.json"), encoding="utf-8") as file:
            self.assertEqual([r["process"] for r in json.load(file)["otherData"]["ranks"]], [0, 0, 3, 3])

    def test_what_does_not_fit_is_told(self):
        file = self.path("t.json")
        text = coset("trace", "-t", 2, "-n", 200, "--events", 64, "-o", file).stdout
        self.assertRegex(text, r"dropped: the oldest events, \d+ of rank 0, \d+ of rank 1")

    def test_faults_are_told(self):
        said = self.program(COSET_TRACE=self.path("none/t.json"), COSET_TRACE_EVENTS="many").stderr
        self.assertEqual(said.count("cannot be written"), 2)  # at once, and again in the end
        self.assertIn("COSET_TRACE_EVENTS=many", said)
        for bad in (["--summary", self.path("absent")], ["--summary", self.file({"a": 1})], ["--merge", self.file([])]):
            result = coset("trace", *bad)
            self.assertEqual(result.returncode, 2, result)
            self.assertTrue(result.stderr.startswith("coset: "), result)

    def test_a_pipe_that_nobody_reads_is_not_waited_for(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        self.assertIn("pipe cannot be written: No such device or address", self.program(COSET_TRACE=pipe).stderr)

    def test_numbers_out_of_range_are_refused_with_line_and_place(self):
        """Every number of a trace, replaced: the summary is of what was recorded, or says what is wrong."""
        file = self.path("t.json")
        self.assertEqual(coset("trace", "-t", 2, "-n", 1, "-o", file).returncode, 0)
        with open(file, encoding="utf-8") as written:
            text = written.read()
        reasons = collections.Counter()
        seen = set()
        for number in re.finditer(r'"(\w+)":\s*("?)(\d+(?:\.\d+)?)\2(?=[,}])', text):
            line = text[text.rfind("\n", 0, number.start()) + 1 : text.find("\n", number.end())]
            if number[1] in seen or re.search('"ph":"[Msf]"', line):  # names and arrows are for viewers
                continue
            seen.add(number[1])
            for wrong in ("-1", "99999999999999999999999", *(["1e300"] if number[1] != "tag" else [])):
                with open(file, "w", encoding="utf-8") as out:
                    out.write(text[: number.start(3)] + wrong + text[number.end(3) :])
                told = coset("trace", "--summary", file)
                self.assertEqual((told.returncode, told.stdout), (2, ""), (number[0], wrong))
                self.assertRegex(told.stderr, rf"t.json' is no trace that coset has written: line \d+, \S*{number[1]}: ")
                reasons[number[1]] += 1
        self.assertLess({"ts", "dur", "pid", "tid", "team", "step", "rank", "ranks", "dropped", "begin_ns"}, set(reasons))


if __name__ == "__main__":
    unittest.main()
