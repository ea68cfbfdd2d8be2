#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What .ci/skips makes of ctest's output, which it takes from ctest itself.

usage: skips_test.py SKIPS CTEST"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SKIPS, CTEST = sys.argv[1:3]

TESTS = """
add_test(runs true)
add_test(needs_hosts_2+2 sh -c "exit 77")
add_test(needs_a_kernel sh -c "exit 77")
add_test(switched_off true)
set_tests_properties(needs_hosts_2+2 needs_a_kernel PROPERTIES SKIP_RETURN_CODE 77)
set_tests_properties(switched_off PROPERTIES DISABLED TRUE)
"""


class Skips(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def outcome(self, tests, permitted):
        (self.folder / "CTestTestfile.cmake").write_text(TESTS)
        ran = subprocess.run([CTEST, "--test-dir", self.folder, "-R", tests], capture_output=True, text=True)
        (self.folder / "log").write_text("before\n" + ran.stdout + "after\n")
        (self.folder / "permitted").write_text("# a comment\n\n" + permitted)
        done = subprocess.run([sys.executable, SKIPS, self.folder / "log", self.folder / "permitted"],
                              capture_output=True, text=True)
        return done.returncode, done.stdout.splitlines()

    def test_what_is_not_listed_fails(self):
        self.assertEqual(self.outcome("runs", ""), (0, []))
        status, said = self.outcome(".", "needs_hosts_* there are no namespaces\n")
        self.assertEqual(status, 1)
        self.assertEqual(sorted(said), [
            "needs_a_kernel was skipped: which .ci/permitted_skips does not permit",
            "needs_hosts_2+2 was skipped: there are no namespaces",
            "switched_off was disabled: which .ci/permitted_skips does not permit"])

    def test_what_is_listed_with_a_reason_passes(self):
        self.assertEqual(self.outcome("kernel", "needs_a_kernel it is too old\n"),
                         (0, ["needs_a_kernel was skipped: it is too old"]))
        self.assertEqual(self.outcome("kernel", "needs_a_kernel\n")[0], 1)


if __name__ == "__main__":
    sys.argv[1:] = []
    unittest.main()
