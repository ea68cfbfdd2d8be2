#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ./dev says of itself, and what it builds for the tests of a room: with a CMake, ninja and ctest that only say what they
are asked.

usage: dev_test.py SOURCES"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCES = pathlib.Path(sys.argv[1])

MADE = "coset: LINKER\ncoset-lab: LINKER\ncoset_installed: phony\ntests/cli/all: phony\ntests/cli/cli_test: LINKER\n" \
       "tests/package/all: phony\n"
STUBS = {
    "dpkg-query": "printf installed",
    "cmake": 'echo "cmake $*" >>asked',
    "ctest": 'echo "ctest $* effort=$COSET_TEST_EFFORT" >>asked',
    "ninja": f"printf '{MADE}'",
}


def dev(*words, folder=SOURCES, **environment):
    environment = {name: of for name, of in os.environ.items() if name != "CI_COSTS"} | environment
    return subprocess.run([folder / "dev", *words], capture_output=True, text=True, cwd=folder, env=environment)


class Help(unittest.TestCase):
    def test_it_fits_a_screen(self):
        shown = dev("--help").stdout.splitlines()
        self.assertLessEqual(len(shown), 24)
        self.assertLessEqual(max(map(len, shown)), 100)

    def test_each_command_says_more_and_all_options_of_the_overview(self):
        shown = dev("--help").stdout
        commands = re.findall(r"^  ([a-z]+) ", shown, re.MULTILINE)
        self.assertIn("test", commands)
        for command in commands:
            done = dev("help", command)
            self.assertEqual(done.returncode, 0, command)
            for line in re.findall(rf"^  {command} (.*)", shown, re.MULTILINE):
                for option in re.findall(r"--[\w-]+", line):
                    self.assertIn(option, done.stdout)

    def test_what_is_unknown_is_refused(self):
        for words in (["tset"], ["help", "tset"], [], ["test", "--tsaf"], ["test", "no_room"], ["lint", "all_of_it"], ["install", "lam"]):
            done = dev(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)


class Rooms(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name).resolve()
        shutil.copy(SOURCES / "dev", self.folder)
        shutil.copytree(SOURCES / ".dev", self.folder / ".dev")
        (self.folder / "CMakePresets.json").touch()
        stubs = self.folder / "stubs"
        stubs.mkdir()
        for name, does in STUBS.items():
            (stubs / name).write_text(f"#!/bin/sh\n{does}\n")
            (stubs / name).chmod(0o755)
        self.build = self.folder / "build/release"
        self.room("cli", f'add_test(a "{self.build}/tests/cli/cli_test")\nadd_test(b "/usr/bin/python3" "b.py" "{self.build}/coset")\n')
        elsewhere = "/" + "x" * len(str(self.build)) + "coset"  # no target of this build, though as long a path ends like one
        self.room("package", f'add_test(c "{elsewhere}" "{self.build}" "{self.build}/tests/package/work")\n')
        (self.build / "build.ninja").touch()

    def room(self, name, tests):
        for folder in (self.folder / "tests" / name, self.build / "tests" / name):
            folder.mkdir(parents=True)
        (self.folder / "tests" / name / "CMakeLists.txt").touch()
        (self.build / "tests" / name / "CTestTestfile.cmake").write_text(tests)

    def asked(self, *words, **environment):
        environment = {"PATH": f"{self.folder}/stubs:{os.environ['PATH']}", "COSET_TEST_EFFORT": "small"} | environment
        done = dev("test", *words, folder=self.folder, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.split() for line in (self.folder / "asked").read_text().splitlines()]

    def test_what_its_tests_run_is_built_and_no_more(self):
        built, tested = self.asked("cli")
        self.assertEqual(built[:5], ["cmake", "--build", "--preset", "release", "--target"])
        self.assertEqual(sorted(built[5:]), ["coset", "coset-lab", "tests/cli/all", "tests/cli/cli_test"])
        self.assertEqual(tested[:3], ["ctest", "--test-dir", "build/release/tests/cli"])
        self.assertEqual(tested[-1], "effort=small")

    def test_who_looks_at_the_build_gets_what_is_installed(self):
        built, _ = self.asked("package")
        self.assertEqual(sorted(built[5:]), ["coset_installed", "tests/package/all"])

    def test_what_cannot_run_is_said_as_ctest_says_it(self):
        suite = self.folder / "tests/mpi/interpose/mpi4py_suite.py"
        suite.parent.mkdir(parents=True)
        for status, said in ((77, "\t  0 - mpi4py_tests (Skipped)\n"), (0, ""), (3, "")):
            suite.write_text(f"#!/bin/sh\nexit {status}\n")
            suite.chmod(0o755)
            done = dev("test", "--mpi4py-tests", folder=self.folder, PATH=f"{self.folder}/stubs:{os.environ['PATH']}")
            self.assertEqual(done.returncode, 0 if status == 77 else status)
            self.assertEqual("Skipped" in done.stdout, bool(said))
            self.assertIn(said, done.stdout)

    def test_several_rooms_are_built_and_tested_in_turn(self):
        asked = self.asked("cli", "package", COSET_TEST_EFFORT="long")
        self.assertEqual([words[0] for words in asked], ["cmake", "cmake", "ctest", "ctest"])
        self.assertEqual(asked[-1][-1], "effort=long")


if __name__ == "__main__":
    sys.argv[1:] = []
    unittest.main()
