#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What .ci/run carries out, of which part, and how it ends, with a ./dev that only says what it is asked; what .ci/costs makes
of its seconds; and that the workflow has a job for each part.

usage: run_test.py SOURCES"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCES = pathlib.Path(sys.argv[1])

DEV = """#!/bin/sh
echo "dev $* effort=$COSET_TEST_EFFORT" >>asked
printf '   10 building\\n    2 testing\\n' >>$CI_COSTS
case "$*" in
  test) echo "100% tests passed, 0 tests failed out of 201" ;;
  "test --mutants"*) echo "100% tests passed, 0 tests failed out of 3" ;;
esac
case "$*" in
  "$SKIPS") printf '\\t  7 - some_test (Skipped)\\n' ;;
  "$FAILS") exit 3 ;;
esac
"""
PARTS = ["lint", "documents", "tests", "mpi", "numa", "sanitizers"]


class Folder(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)
        for name in (".ci", ".dev"):
            shutil.copytree(SOURCES / name, self.folder / name)
        (self.folder / "dev").write_text(DEV)
        (self.folder / "dev").chmod(0o755)

    def run_ci(self, *parts, **environment):
        """(status, lines, what ./dev was asked)"""
        done = subprocess.run([".ci/run", *parts], cwd=self.folder, capture_output=True, text=True,
                              env={"PATH": "/usr/bin:/bin", "SKIPS": "", "FAILS": "", "COSET_TEST_EFFORT": ""} | environment)
        asked = self.folder / "asked"
        lines = asked.read_text().replace(" effort=\n", "\n").splitlines() if asked.exists() else []
        return done.returncode, done.stdout.splitlines(), lines


class Run(Folder):
    def test_all_parts_end_with_the_verdict_on_the_ordinary_build(self):
        status, said, asked = self.run_ci()
        self.assertEqual((status, said[-1]), (0, "100% tests passed, 0 tests failed out of 201"))
        self.assertEqual(asked, ["dev lint format", "dev lint clang src/mpi examples bench", "dev docs",
                                 "dev test effort=small", "dev test --mutants --sample 8", "dev test --mpi effort=small",
                                 "dev test --numa 2+2+0", "dev sanitize"])
        costs = [line.split("\t") for line in (self.folder / "build/ci-costs").read_text().splitlines()[1:]]
        self.assertEqual([part for part, _, step in costs if step == "all"], PARTS)
        self.assertEqual([(seconds, step) for part, seconds, step in costs if part == "numa"][1:],
                         [("10", "building"), ("2", "testing")])

    def test_a_part_alone_brings_what_it_needs(self):
        status, said, asked = self.run_ci("documents")
        self.assertEqual((status, said[-1]), (0, "passed: documents "))
        self.assertEqual(asked, ["dev docs", "dev test documents package"])

    def test_several_parts_keep_their_order(self):
        _, _, asked = self.run_ci("numa", "lint")
        self.assertEqual(asked, ["dev lint format", "dev lint clang src/mpi examples bench", "dev test --numa 2+2+0"])

    def test_what_fails_is_named_and_ends_the_run(self):
        status, said, asked = self.run_ci(FAILS="test --mpi")
        self.assertEqual((status, said[-1]), (3, "failed with status 3: mpi: testing"))
        self.assertEqual(said[-2], "100% tests passed, 0 tests failed out of 201")
        self.assertEqual(asked[-1], "dev test --mpi effort=small")
        status, said, _ = self.run_ci("mpi", FAILS="test --mpi")
        self.assertEqual((status, said[-1]), (3, "failed with status 3: mpi: testing"))

    def test_a_skipped_test_fails(self):
        status, said, _ = self.run_ci("numa", SKIPS="test --numa 2+2+0")
        self.assertEqual(status, 1)
        self.assertIn("some_test was skipped: which .ci/permitted_skips does not permit", said)

    def test_unknown_parts_are_refused(self):
        status, _, asked = self.run_ci("lint", "linting")
        self.assertEqual((status, asked), (2, []))


class Costs(Folder):
    def setUp(self):
        super().setUp()
        self.page = self.folder / "page.md"
        shutil.copy(SOURCES / "docs/CONTRIBUTING.md", self.page)
        (self.folder / "build").mkdir()

    def costs(self, parts):
        rows = [f"{part}\t{100 + i}\tall\n{part}\t{90 + i}\tbuilding\n{part}\t3\ttesting\n" for i, part in enumerate(parts)]
        (self.folder / "build/ci-costs").write_text("# a processor, 2 cores, 2026-01-01\n" + "".join(rows))
        done = subprocess.run([self.folder / ".ci/costs", "--write", "--page", self.page], capture_output=True, text=True)
        return done.returncode, done.stderr

    def table(self):
        parts = self.page.read_text().partition("<!-- end of parts")[0]  # rooms follow, some of the same names
        rows = re.findall(r"^\| (\w+) \| ([^|]*) \| (\d+) \|(.*)\|$", parts, re.MULTILINE)
        return {name: (before, int(now), of_that.strip()) for name, before, now, of_that in rows}

    def test_now_is_written_and_before_stays(self):
        self.assertEqual(self.costs(PARTS), (0, ""))
        self.page.write_text(re.sub(r"\| mpi \| [^|]* \|", "| mpi | 777 |", self.page.read_text(), count=1))
        self.assertEqual(self.costs(PARTS), (0, ""))
        table = self.table()
        self.assertEqual(table["mpi"], ("777", 103, "building 93"))
        self.assertEqual(table["all"][1], sum(range(100, 106)))
        self.assertIn("a processor, 2 cores, 2026-01-01", self.page.read_text())

    def test_a_run_of_some_parts_is_refused(self):
        before = self.page.read_text()
        status, said = self.costs(PARTS[1:])
        self.assertEqual(status, 1)
        self.assertIn("without lint", said)
        self.assertEqual(self.page.read_text(), before)

    def test_rooms_that_take_long_are_marked(self):
        (self.folder / "build/room-costs").write_text("cli\tsrc/command/main.cpp\t10\t21\nabi\t\t1\t2\n# a processor, 2 cores, today\n")
        done = subprocess.run([self.folder / ".ci/costs", "rooms", "--page", self.page], capture_output=True, text=True)
        self.assertIn("| cli | `src/command/main.cpp` | 10 | 21 | 31 ✗ |\n| abi |  | 1 | 2 | 3 |\n", done.stdout)


class Workflow(unittest.TestCase):
    def test_each_part_is_a_job(self):
        text = (SOURCES / ".github/workflows/ci.yml").read_text()
        matrix = re.search(r"^ +part: \[(.*)\]$", text, re.MULTILINE)[1].split(", ")
        known = subprocess.run([SOURCES / ".ci/run", "--parts"], check=True, capture_output=True, text=True).stdout.split()
        self.assertEqual(matrix, [part for part in known if part not in ("long", "fresh")])
        self.assertEqual(re.findall(r"command: (.*)", text), [".ci/run long", ".ci/run fresh"])


if __name__ == "__main__":
    sys.argv[1:] = []
    unittest.main()
