#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libcoset_preload.so takes what is for the program's MPI, whichever that is and however it was loaded; it says what it has
nothing for, and is nothing to programs without MPI.

usage: front_test.py MPI MODULE HALF LINKED PROGRAM

MODULE is libcoset_preload.so, HALF what is beside it for MPI, LINKED libcoset_mpi.so, PROGRAM the source of a program in C.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

MPI, MODULE, HALF, LINKED, PROGRAM = sys.argv[1:6]
OTHER = {"openmpi": "mpich", "mpich": "openmpi"}[MPI]
SONAME = pathlib.Path(HALF).name.removeprefix("coset_preload_for_")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
           "OMPI_MCA_hwloc_base_binding_policy": "none"}
# Python has no MPI, opens it for itself alone, and then calls what the dynamic linker finds first.
OPENED_LATE = """
import ctypes, os
mpi = ctypes.CDLL("{soname}", mode=os.RTLD_LOCAL | os.RTLD_NOW)
os.chdir("/")
everywhere = ctypes.CDLL(None)
assert everywhere.MPI_Init(None, None) == 0
assert everywhere.MPI_Finalize() == 0
"""
# Debian's, whichever Python comes first in PATH.
PYTHON = "/usr/bin/python3"
BY_MPI4PY = """
from mpi4py import MPI
assert sum(MPI.COMM_WORLD.allreduce(1) for _ in range(20)) == 20 * MPI.COMM_WORLD.size
MPI.COMM_WORLD.Barrier()
"""
# A library that calls UCX's progress from three places, as MPICH does from dozens; the program counts who looks for libraries.
UCX = "unsigned ucp_worker_progress(void* worker) { return worker != 0; }"
USER_OF_UCX = """
unsigned ucp_worker_progress(void*);
unsigned first(void* w) { return ucp_worker_progress(w) + 1; }
unsigned second(void* w) { return ucp_worker_progress(w) + 2; }
unsigned third(void* w) { return ucp_worker_progress(w) + 3; }
"""
COUNTING = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
unsigned first(void*), second(void*), third(void*);
static int looks;
int dladdr1(void const* place, Dl_info* info, void** extra, int flags) {
  ++looks;
  return ((int (*)(void const*, Dl_info*, void**, int))dlsym(RTLD_NEXT, "dladdr1"))(place, info, extra, flags);
}
int main(void) {
  unsigned sum = 0;
  for (int i = 0; i < 1000; ++i) sum += first(&sum) + second(&sum) + third(&sum);
  printf("%u %d\\n", sum, looks);
  return 0;
}
"""


def run(*command, folder=None, **variables):
    ran = subprocess.run(command, env=os.environ | AS_ROOT | variables, cwd=folder, capture_output=True, text=True, timeout=100,
                         check=False)
    return ran.returncode, ran.stdout + ran.stderr


def run_by_mpi(mpi, *command, **variables):
    options = []
    for name, value in variables.items():
        options += ["-x", f"{name}={value}"] if mpi == "openmpi" else ["-genv", name, value]
    launcher = os.environ.get("COSET_MPIEXEC") if mpi == MPI else None
    return run(launcher or f"mpiexec.{mpi}", "-n", "2", *options, *command)


class Front(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def program(self, mpi):
        """The program, built for this MPI."""
        if shutil.which(f"mpicc.{mpi}") is None or shutil.which(f"mpiexec.{mpi}") is None:
            self.skipTest(f"no {mpi}")
        program = os.path.join(self.folder, "program")
        subprocess.run([f"mpicc.{mpi}", PROGRAM, "-w", "-o", program], check=True)
        return program

    def assert_carries_out(self, ran):
        status, said = ran
        self.assertEqual(status, 0, said)
        self.assertIn("coset: collectives of process 0", said)
        self.assertNotIn("this program's MPI is", said)

    def test_calls_are_carried_out(self):
        self.assert_carries_out(run_by_mpi(MPI, self.program(MPI), LD_PRELOAD=MODULE, COSET_LOG="mpi"))

    def test_what_all_processes_of_a_job_preload(self):
        program = self.program(MPI)
        launcher = os.environ.get("COSET_MPIEXEC", f"mpiexec.{MPI}")
        self.assert_carries_out(run(launcher, "-n", "2", program, LD_PRELOAD=MODULE, COSET_LOG="mpi"))

    def test_another_mpi_is_named_and_left_alone(self):
        program = self.program(OTHER)
        status, said = run_by_mpi(OTHER, program, LD_PRELOAD=MODULE, COSET_LOG="mpi")
        self.assertEqual(status, 0, said)
        name = {"openmpi": r"libmpi\.so", "mpich": r"libmpich\.so"}[OTHER]
        self.assertEqual(len(re.findall(rf"coset: this program's MPI is \S*{name}\S*, and \S+ has nothing for it, but for "
                                        rf"{re.escape(SONAME)}: all collectives are MPI's own", said)), 2, said)
        self.assertNotIn("collectives of process 0", said)
        status, said = run_by_mpi(OTHER, program, LD_PRELOAD=MODULE, COSET_INTERPOSE_REQUIRE="1")
        self.assertNotEqual(status, 0, said)
        self.assertIn("which COSET_INTERPOSE_REQUIRE forbids", said)

    def test_mpi_that_is_opened_late(self):
        self.assert_carries_out(run(sys.executable, "-c", OPENED_LATE.format(soname=SONAME), LD_PRELOAD=MODULE, COSET_LOG="mpi"))

    def test_folders_as_they_were_at_the_start(self):
        self.assert_carries_out(run(sys.executable, "-c", OPENED_LATE.format(soname=SONAME), LD_PRELOAD="./libcoset_preload.so",
                                    COSET_LOG="mpi", folder=os.path.dirname(MODULE)))

    def test_mpi4py(self):
        if MPI != "openmpi" or subprocess.run([PYTHON, "-c", "import mpi4py.MPI"], capture_output=True, check=False).returncode:
            self.skipTest(f"no mpi4py for {MPI}")
        self.assert_carries_out(run_by_mpi(MPI, PYTHON, "-c", BY_MPI4PY, LD_PRELOAD=MODULE, COSET_LOG="mpi"))

    def test_programs_without_mpi_notice_nothing(self):
        status, said = run("cat", "/proc/self/maps", LD_PRELOAD=MODULE)
        self.assertEqual(status, 0)
        self.assertIn("libcoset_preload.so", said)
        self.assertEqual(re.findall(r"\S*/lib(?:mpi|open-|stdc|hwloc|uc)\S*|\S*coset_preload_for\S*|coset: .*", said), [])

    def test_calls_without_mpi_end_the_program(self):
        status, said = run(sys.executable, "-c", "import ctypes; ctypes.CDLL(None).MPI_Init(None, None)", LD_PRELOAD=MODULE)
        self.assertEqual((status, said), (127, "coset: MPI_Init is called, and no MPI that this process has loaded defines it\n"))

    @unittest.skipUnless(shutil.which("gcc"), "no gcc")
    def test_progress_of_ucx_is_looked_for_once_for_each_library_that_calls_it(self):
        def built(name, text, *options):
            source, made = os.path.join(self.folder, name + ".c"), os.path.join(self.folder, name)
            pathlib.Path(source).write_text(text, encoding="utf-8")
            subprocess.run(["gcc", source, "-o", made, *options], check=True)
            return made

        ucx = built("libucp.so", UCX, "-shared", "-fPIC")
        user = built("libuser.so", USER_OF_UCX, "-shared", "-fPIC", "-O0", ucx)
        program = built("counting", COUNTING, "-rdynamic", user, ucx, f"-Wl,-rpath,{self.folder}")
        status, said = run(program, LD_PRELOAD=MODULE)
        self.assertEqual(status, 0, said)
        total, looks = map(int, said.split())
        self.assertEqual(total, 1000 * (1 + 1 + 1 + 6))
        self.assertGreater(looks, 0)  # else nothing was seen
        self.assertLess(looks, 10)

    def test_a_half_is_not_to_be_preloaded(self):
        status, said = run("true", LD_PRELOAD=HALF)
        self.assertEqual(status, 127)
        self.assertRegex(said, "symbol lookup error: .*coset_preload_of_thread")

    def test_the_former_name(self):
        status, said = run_by_mpi(MPI, self.program(MPI), LD_PRELOAD=LINKED)
        self.assertEqual(status, 0, said)
        self.assertEqual(len(re.findall(r"coset: \S*libcoset_mpi.so\S* in LD_PRELOAD .* to preload is libcoset_preload.so", said)), 2,
                         said)
        self.assertEqual(run("sh", "-c", "true", LD_PRELOAD=LINKED), (0, ""))

    def test_the_former_name_with_another_mpi(self):
        status, said = run_by_mpi(OTHER, self.program(OTHER), LD_PRELOAD=LINKED)
        self.assertEqual(status, 0, said)
        self.assertIn("to preload is libcoset_preload.so", said)

    @unittest.skipUnless(shutil.which("nm"), "no nm")
    def test_every_name_of_a_half_is_there(self):
        def names(file):
            listed = subprocess.run(["nm", "-D", "--defined-only", file], capture_output=True, text=True, check=True).stdout
            return set(re.findall(r"\bP?MPIX?_\w+", listed))

        self.assertLessEqual(names(HALF), names(MODULE))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
