#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which Python the module is built for, of those that PATH has.

usage: found_test.py FOLDER CMAKE FUNCTION, the last being cmake/CosetPython.cmake"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import support  # noqa: F401

CMAKE, FUNCTION = sys.argv[1:3]


class Found(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def python(self, name, text):
        """A folder of PATH whose python3 is this script."""
        (self.folder / name).mkdir()
        program = self.folder / name / "python3"
        program.write_text("#!/bin/sh\n" + text)
        program.chmod(0o755)
        return str(self.folder / name)

    def found(self, *folders, given=""):
        script = self.folder / "find.cmake"
        script.write_text(f'include({FUNCTION})\n{given}\ncoset_find_python()\nmessage("${{Python3_EXECUTABLE}}")\n')
        done = subprocess.run([CMAKE, "-P", script], check=True, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "PATH": ":".join(folders)})
        return done.stderr.strip()

    def test_the_first_that_has_numpy_is_taken(self):
        # As a version manager's: isolated from what is installed, and one that does not start.
        without = self.python("without", f'exec {sys.executable} -I -S "$@"\n')
        broken = self.python("broken", "exit 1\n")
        shim = self.python("shim", f'exec {sys.executable} "$@"\n')
        self.assertEqual(self.found(without, broken, str(self.folder / "none"), shim, "/bin"), sys.executable)
        self.assertNotIn(str(self.folder), self.found(without, broken))

    def test_what_the_user_has_named_stays(self):
        shim = self.python("shim", f'exec {sys.executable} "$@"\n')
        self.assertEqual(self.found(shim, given="set(Python3_EXECUTABLE /opt/python3)"), "/opt/python3")
        self.assertEqual(self.found(shim, given="set(Python3_ROOT_DIR /opt)"), "")


if __name__ == "__main__":
    sys.argv[1:] = []
    unittest.main()
