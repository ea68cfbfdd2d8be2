#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls of 8 bytes by a team of one execute as many instructions as docs/architecture.md says, within 5 %.

    instructions_test.py VALGRIND PROGRAM DOCUMENT

More is a fast path that is not taken any more, less a document to mend. Callgrind counts all of a program, so that what a call
takes is the difference of many calls and few.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import unittest

MANY, FEW = 3000, 1000
WITHIN = 0.05


def counted(verb, calls):
    command = [VALGRIND, "--tool=callgrind", "--callgrind-out-file=/dev/null", PROGRAM, verb, str(calls)]
    # Folds of one instruction set, which valgrind knows, whatever the machine has and the caller has set.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COSET_")} | {"COSET_ISA": "AVX2"}
    run = subprocess.run(command, check=False, capture_output=True, text=True, env=plain)
    if run.returncode != 0:
        raise AssertionError(f"{verb}: {run.stderr}")
    said = run.stderr
    return int(re.search(r"Collected : (\d+)", said)[1])


def of_a_call(verb):
    return (counted(verb, MANY) - counted(verb, FEW)) / (MANY - FEW)


def documented():
    """{verb: instructions}, of the table's last column."""
    text = pathlib.Path(DOCUMENT).read_text(encoding="utf-8")
    table = text.split("| 8 bytes, a team of one |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| ([a-z][a-z, ]*) \|.*\| (\d+) \|$", table, re.MULTILINE)
    return {verb: int(count) for verb, count in rows}


@unittest.skipUnless("avx2" in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split(), "the figures are of AVX2")
class Instructions(unittest.TestCase):
    def test_are_as_documented(self):
        expected = documented()
        self.assertGreaterEqual(len(expected), 7)
        with concurrent.futures.ThreadPoolExecutor(2) as at_once:
            found = dict(zip(expected, at_once.map(of_a_call, expected)))
        for verb, count in expected.items():
            with self.subTest(verb):
                self.assertLess(abs(found[verb] - count) / count, WITHIN, f"{verb}: {found[verb]:.0f} instructions")


if __name__ == "__main__":
    VALGRIND, PROGRAM, DOCUMENT = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
