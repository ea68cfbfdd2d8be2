#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tools see of a program's calls is the same with libcoset_preload.so before MPI as without it, wherever the tool stands.

usage: tools_test.py MPI LIBRARY FOLDER

FOLDER has the programs c, mpifh, module and f08; c_linked and mpifh_linked, which are linked with a tool; and the tools
libprofiler.so, libprofiler_of_fortran.so and libgoes_on.so; and, for who is faster, the program broadcasts beside two MPIs'
own, libslow_broadcasts.so and libno_broadcasts.so.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter

MPI, LIBRARY, FOLDER = sys.argv[1:4]


def file(name):
    return os.path.join(FOLDER, name)


def run_by_mpi(*command, **variables):
    options = []
    for name, value in variables.items():
        options += ["-x", f"{name}={value}"] if MPI == "openmpi" else ["-genv", name, value]
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}
    run = subprocess.run([os.environ.get("COSET_MPIEXEC", f"mpiexec.{MPI}"), "-n", "2", *options, *command],
                         env=os.environ | as_root, capture_output=True, text=True, timeout=100, check=False)
    return run.returncode, run.stdout + run.stderr


class Run:
    """A program and what is said of it."""

    def __init__(self, program, *preloaded):
        scratch = [file("written")] if program.startswith("c") else []
        before = {"LD_PRELOAD": ":".join(preloaded)} if preloaded else {}
        self.status, self.said = run_by_mpi(file(program), *scratch, COSET_LOG="mpi", **before)
        told = re.findall(r"^tool: (.*)$", self.said, re.MULTILINE)
        self.counts = {name: int(number) for name, number in re.findall(r"(\S+) (\d+)", told[0])} if told else None
        self.carried_out = carried_out(self.said)


def carried_out(said):
    ours = re.search(r"^ +(\d+) Allreduce$", said, re.MULTILINE)
    return int(ours.group(1)) if ours else 0


class Tools(unittest.TestCase):
    maxDiff = None

    def same(self, program, without, *preloaded, carried_out):
        """As without the library, and the library carries out what it should, at least: MPI-IO has reductions of its own."""
        run = Run(program, *preloaded)
        self.assertEqual(run.status, 0, run.said)
        self.assertIsNotNone(without.counts, without.said)
        self.assertEqual(run.counts, without.counts, run.said)
        self.assertGreaterEqual(run.carried_out, carried_out, run.said)
        return run

    def test_c_linked(self):
        without = Run("c_linked")
        self.assertEqual((without.counts["Allreduce"], without.counts["Send"], without.counts["Start"]), (67, 13, 2))
        run = self.same("c_linked", without, LIBRARY, carried_out=50 + 11 + 17)
        self.assertIn("seen first by", run.said)

    def test_c_preloaded_before(self):
        tool = file("libprofiler.so")
        self.same("c", Run("c", tool), tool, LIBRARY, carried_out=78)

    def test_c_preloaded_behind(self):
        tool = file("libprofiler.so")
        self.same("c", Run("c", tool), LIBRARY, tool, carried_out=78)

    @unittest.skipUnless(os.path.exists(file("f08")), "no Fortran")
    def test_fortran_by_each_interface(self):
        seen = set()
        for program in ("mpifh", "module", "f08"):
            for tool in ("libprofiler.so", "libprofiler_of_fortran.so"):
                without = Run(program, file(tool))
                self.assertEqual(without.status, 0, without.said)
                if without.counts is None:
                    continue  # which this interface goes past
                seen.add(program)
                for order in ((LIBRARY, file(tool)), (file(tool), LIBRARY)):
                    with self.subTest(program=program, tool=tool, order=order):
                        self.same(program, without, *order, carried_out=50)
        self.assertLessEqual({"mpifh", "module"}, seen)

    @unittest.skipUnless(os.path.exists(file("mpifh_linked")), "no Fortran")
    def test_fortran_linked(self):
        without = Run("mpifh_linked")
        self.assertEqual(without.counts, {"allreduce": 50})
        self.same("mpifh_linked", without, LIBRARY, carried_out=50)

    def test_who_defines_both_names_stands_below(self):
        tool = file("libboth_names.so")
        without = Run("c", tool)
        for order in ((LIBRARY, tool), (tool, LIBRARY)):
            run = Run("c", *order)
            self.assertEqual(run.status, 0, run.said)
            self.assertEqual(run.counts["Allreduce"], without.counts["Allreduce"])
            self.assertGreaterEqual(run.counts["Init"] + run.counts["Init_thread"], 1, run.said)
            self.assertGreaterEqual(run.carried_out, 78, run.said)

    @unittest.skipUnless(shutil.which("eztrace") and shutil.which("otf2-print"), "no eztrace or otf2-tools")
    def test_eztrace_of_debian(self):
        def traced(folder, **variables):
            trace = os.path.join(folder, "trace")
            status, said = run_by_mpi("eztrace", "-o", trace, "-t", MPI, file("c"), COSET_LOG="mpi", **variables)
            self.assertEqual(status, 0, said)
            archive = glob.glob(f"{trace}/*/*.otf2")
            told = subprocess.run(["otf2-print", *archive], capture_output=True, text=True, timeout=100, check=True).stdout
            return Counter(re.findall(r"^(?:ENTER|LEAVE).*?\b(MPI_[A-Z][a-z_]+)", told, re.MULTILINE)), said

        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            without, _ = traced(one)
            found, said = traced(other, LD_PRELOAD=LIBRARY)
        self.assertEqual(without["MPI_Allreduce"], 2 * 2 * 67)  # processes, enter and leave
        self.assertEqual(found, without)
        self.assertGreaterEqual(carried_out(said), 78)

    def test_calls_that_move_go_to_whoever_is_faster(self):
        def broadcasts(below):
            run = Run("broadcasts", LIBRARY, file(below))
            self.assertEqual(run.status, 0, run.said)
            numbers = (re.search(rf"^ +(\d+) {words}$", run.said, re.MULTILINE)
                       for words in ("Bcast", "MPI_Bcast left to MPI: MPI is faster"))
            return [int(found.group(1)) if found else 0 for found in numbers]

        by_team, left = broadcasts("libslow_broadcasts.so")
        self.assertGreater(by_team, 950)
        self.assertEqual(left, 0)
        by_team, left = broadcasts("libno_broadcasts.so")
        self.assertLess(by_team, 50)
        self.assertGreater(left, 900)

    def test_who_goes_on_past_the_library_is_told(self):
        tool = file("libgoes_on.so")
        without = Run("c", tool)
        behind = Run("c", LIBRARY, tool)
        self.assertEqual((behind.status, behind.counts, behind.carried_out), (0, without.counts, 0), behind.said)
        self.assertRegex(behind.said, r"coset: \S*libgoes_on.so goes on from MPI_Init to MPI's own")
        self.same("c", without, tool, LIBRARY, carried_out=78)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
