#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The module as it is installed: found by this Python beneath its usual prefixes, and it works there.

usage: installed_test.py FOLDER CMAKE BUILD INSTALLED, the last beneath the prefix"""
import os
import subprocess
import sys
import tempfile
import unittest

import support  # noqa: F401

CMAKE, BUILD, INSTALLED = sys.argv[1:4]


class Installed(unittest.TestCase):
    def test_it_works_where_it_is_installed(self):
        with tempfile.TemporaryDirectory() as prefix:
            subprocess.run([CMAKE, "--install", BUILD, "--component", "python", "--prefix", prefix],
                           check=True, stdout=subprocess.DEVNULL)
            here = os.path.join(prefix, INSTALLED)
            program = "import coset; print(coset.__file__, coset.Team(2, 'unbound').run(lambda me: me.allreduce(1.5)))"
            done = subprocess.run([sys.executable, "-c", program], cwd=prefix, env={**os.environ, "PYTHONPATH": here},
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.stderr, "")
            self.assertTrue(done.stdout.startswith(here), done.stdout)
            self.assertTrue(done.stdout.endswith("[3.0, 3.0]\n"), done.stdout)

    def test_this_python_looks_there(self):
        self.assertTrue({os.path.join(prefix, INSTALLED) for prefix in ("/usr/local", sys.prefix)} & set(sys.path))


if __name__ == "__main__":
    sys.argv[1:] = []
    unittest.main()
