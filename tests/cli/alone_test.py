#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command where the package coset-lab is not installed: it names that for what it lacks, before anything else happens, and
does all else.

    alone_test.py COSET [unittest's arguments]
"""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from command import COSET

OF_LAB = ("cost", "search", "simulate", "reproduce", "generate")


class Alone(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        shutil.copy(COSET, self.folder / "coset")

    def run_alone(self, *words):
        return subprocess.run([self.folder / "coset", *map(str, words)], capture_output=True, text=True, cwd=self.folder)

    def test_what_is_in_the_lab_names_its_package(self):
        for words in (*((name,) for name in OF_LAB), ("cost", "--help"), ("cost", "ring", "--ranks", 8),
                      ("plan", "ring", "--ranks", 4, "--html"), ("bench", "--report", "page.html"), ("bench", "--against", "omp"),
                      ("bench", "--mpi")):
            refused = self.run_alone(*words)
            with self.subTest(words=words):
                self.assertEqual((refused.returncode, refused.stdout), (2, ""))
                self.assertIn("in the package coset-lab, which is not installed here", refused.stderr)
        self.assertEqual([file.name for file in self.folder.iterdir()], ["coset"])

    def test_a_copy_of_the_command_is_no_lab(self):
        """Nor is what cannot be started; neither starts itself for ever."""
        lab = self.folder / "coset-lab"
        shutil.copy(COSET, lab)
        self.expect_no_lab()
        lab.chmod(0o644)
        self.expect_no_lab()
        lab.unlink()
        lab.symlink_to(lab)
        self.expect_no_lab()

    def expect_no_lab(self):
        refused = subprocess.run([self.folder / "coset", "cost", "ring"], capture_output=True, text=True, timeout=60)
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertIn("in the package coset-lab, which is not installed here", refused.stderr)

    def test_help_lists_it_all_the_same(self):
        listed = self.run_alone("--help").stdout
        for name in OF_LAB:
            self.assertRegex(listed, f"\n  {name} +[A-Z]")
        whole = subprocess.run([COSET, "--help"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(listed, whole)

    def test_the_rest_does_without(self):
        self.assertIn("recursive_doubling", self.run_alone("list", "--ranks", 4).stdout)
        self.assertEqual(json.loads(self.run_alone("plan", "ring", "--ranks", 4, "--json").stdout)["ranks"], 4)
        self.assertIn("chosen", json.loads(self.run_alone("why", "allreduce", 8, "--ranks", 2, "--json").stdout))
        self.assertIn("allreduce", self.run_alone("completion", "bash").stdout)
        self.assertIn("COSET", self.run_alone("manual", "why").stdout)
        self.assertEqual(self.run_alone("manual", "cost").returncode, 2)

    def test_its_pages_are_those_of_what_is_there(self):
        make = pathlib.Path(__file__).resolve().parents[2] / "src/command/pages/make"
        subprocess.run([make, self.folder / "coset", self.folder / "pages"], check=True, capture_output=True)
        pages = {page.name for page in (self.folder / "pages/man").iterdir()}
        self.assertIn("coset-why.1", pages)
        self.assertNotIn("coset-cost.1", pages)

    def test_bench_measures_coset_alone(self):
        measured = self.run_alone("bench", "allreduce", "--sizes", 8, "--ranks", 2, "--rounds", 1, "-n", 100, "--json", "figures.json")
        self.assertEqual(measured.returncode, 0, measured.stderr)
        self.assertIn("its rivals are in the package coset-lab", measured.stderr)
        self.assertTrue((self.folder / "figures.json").exists())
        families = set(re.findall(r'"family": *"(\w+)"', (self.folder / "figures.json").read_text()))
        self.assertLessEqual(families, {"coset", "reference"})


if __name__ == "__main__":
    unittest.main()
