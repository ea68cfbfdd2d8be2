#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program loads that uses the library: how much, which other libraries, and which names.

usage: footprint_test.py FOLDER      of a build, with libcoset.so, libcoset_study.so and coset in it
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

MOST_BYTES = 2_520_000

C_LIBRARY = {"libc.so.6", "libm.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
CXX = C_LIBRARY | {"libstdc++.so.6", "libgcc_s.so.1"}
MAY_NEED = {
    "libcoset.so": CXX | {"libhwloc.so.15"},
    "src/lab/study/libcoset_study.so": CXX,
    "coset": CXX | {"libhwloc.so.15", "libfmt.so.9"},
}

# Of the rooms, nothing; of coset::detail, what the public headers declare there; of templates, what they instantiate.
ROOMS = ["calibration", "capi", "choice", "kernels", "numa", "planning", "program", "reducer_room", "runtime", "schedule",
         "study", "team_room", "text", "trace", "updates_room"]
INSTANCES = {"float coset::detail::rounded<float>", "double coset::detail::rounded<double>"}
BUILD = pathlib.Path()


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def exported(library):
    """Names without the version's inline namespace, which all of C++ have."""
    lines = output("nm", "--dynamic", "--defined-only", "--demangle", library).splitlines()
    names = [line.split(maxsplit=2)[2].split("@")[0] for line in lines if line.split()[1] != "A"]
    return [re.sub(r"\bcoset::v\d+_\w+::", "coset::", name) for name in names]


class Footprint(unittest.TestCase):
    def test_the_library_is_small(self):
        with tempfile.TemporaryDirectory() as folder:
            stripped = pathlib.Path(folder) / "stripped.so"
            output("strip", "-o", stripped, BUILD / "libcoset.so")
            self.assertLessEqual(stripped.stat().st_size, MOST_BYTES)

    def test_nothing_else_is_linked(self):
        for file, may_need in MAY_NEED.items():
            needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "--dynamic", "--wide", BUILD / file)))
            self.assertEqual(needed - may_need, set(), file)

    def test_names_are_those_of_the_interface(self):
        names = exported(BUILD / "libcoset.so")
        self.assertIn("coset_allreduce", names)
        for name in names:
            of = re.match(r"(?:typeinfo (?:name )?for |vtable for )?(.*)", name).group(1)
            self.assertRegex(of, r"^(?:coset_|coset::)|<", name)
            self.assertNotRegex(of, rf"\bcoset::(?:{'|'.join(ROOMS)})::", name)
            if "<" in of.split("(")[0]:
                self.assertIn(of.split("(")[0], INSTANCES)

    def test_the_study_library_exports_what_its_header_declares(self):
        for name in exported(BUILD / "src/lab/study/libcoset_study.so"):
            self.assertRegex(name, r"^(?:coset::study::|typeinfo (?:name )?for coset::)", name)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1))
    unittest.main()
