#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs mpi4py's own tests, unchanged, with libcoset_preload.so before Open MPI: those of collectives and of what meets them.

usage: mpi4py_suite.py LIBRARY [--tests FOLDER] [--processes N]… [--match WORDS]

mpi4py is Debian's, which is made for Open MPI. FOLDER is the folder test of that version's sources, without which Debian's
source package is fetched. A file of tests that fails without the library, too, is listed, and does not count. Exit status:
1 if one fails with the library alone; 77 where there is no mpi4py, or no source package to be had.
"""
import argparse
import functools
import os
import pathlib
import subprocess
import sys

from suite import fetched, judge, launched, wrong

# The one that Debian's packages are installed for, whichever comes first in PATH.
PYTHON = "/usr/bin/python3"
FILES = ["cco_*", "comm*", "op", "request", "grequest", "p2p_*", "message", "msg*", "pickle", "pack", "datatype", "status",
         "group", "attributes", "errhandler", "exceptions", "threads", "win", "rma*"]
# A communicator's nonblocking collectives are MPI's before its first blocking one. unittest's own main tells by its exit
# status whether the tests have passed; that of mpi4py's does not.
PROGRAM = """
import sys, unittest
from mpi4py import MPI
MPI.COMM_WORLD.Barrier()
MPI.COMM_SELF.Barrier()
unittest.main(module=None, argv=["mpi4py", "--quiet", *sys.argv[1:]])
"""


def outcome(folder, test, processes, library):
    """Nothing, or what went wrong."""
    variables = {"LD_PRELOAD": library, "COSET_LOG": "mpi"} if library else {}
    status, words = launched(folder, "openmpi", processes, variables, [PYTHON, "-W", "ignore", "-c", PROGRAM, test])
    if status == 0 and library and "coset: collectives of process 0" not in words:
        return "the library was not there"
    return "" if status == 0 else wrong(status, words, 12)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--tests", type=pathlib.Path)
    parser.add_argument("--processes", type=int, action="append")
    parser.add_argument("--match", default="")
    options = parser.parse_args()
    if subprocess.run([PYTHON, "-c", "import mpi4py.MPI"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("there is no mpi4py here")
        sys.exit(77)
    folder = options.tests or fetched("mpi4py", "test/mpiunittest.py")
    if folder is None:
        print("mpi4py's sources cannot be had here")
        sys.exit(77)
    names = [file.stem for words in FILES for file in sorted(folder.glob(f"test_{words}.py"))]
    tests = [(f"{name} {processes}", functools.partial(outcome, folder, name, processes))
             for name in names for processes in options.processes or range(1, 6)]
    judge("openmpi", os.path.abspath(options.library), [test for test in tests if options.match in test[0]])


if __name__ == "__main__":
    main()
