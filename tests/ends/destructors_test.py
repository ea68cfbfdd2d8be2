#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That no object file has the system destroy what a later call may use, or needs to be constructed before an earlier one:
what it registers for the end of a thread or of the process, and what runs before main(), is listed here with the reason.

usage: destructors_test.py NM OBJDUMP FILE...    object files and archives of them
"""
import re
import subprocess
import sys

ALLOWED = {
    ("onlooker.cpp.o", "__cxa_thread_atexit"): "keeps the code loaded under a thread; there is nothing to destroy",
    ("idle_teams.cpp.o", "__cxa_thread_atexit"): "keeps the code loaded under a rank's thread, and counts those that end alone",
    ("process.cpp.o", "atexit"): "writes the trace, and destroys nothing",
    ("process.cpp.o", ".init_array"): "the process that has started, for the names of its children's traces",
    ("fork.cpp.o", ".init_array"): "handlers of fork(), which the first team registers if it is made earlier",
    ("onlooker.cpp.o", ".init_array"): "a handler of fork(), before anybody waits",
    ("kernels.cpp.o", ".init_array"): "a handler of fork(), by which a child finds its tables whole",
    ("threads.cpp.o", ".fini_array"): "deletes a key before its function is unloaded; reducers do without it",
    # The layer before MPI is loaded before the program that it serves, so that it is constructed first.
    ("calls.cpp.o", ".init_array"): "a handler of fork(), before MPI begins",
    ("attachment.cpp.o", ".init_array"): "a list that is never destroyed",
    ("flights.cpp.o", ".init_array"): "lists that are never destroyed",
    ("operations.cpp.o", ".init_array"): "lists that are never destroyed",
    ("persistent.cpp.o", ".init_array"): "a list that is never destroyed",
    ("self.cpp.o", ".init_array"): "a list that is never destroyed",
    ("stored_teams.cpp.o", ".init_array"): "a map that is never destroyed",
    ("tally.cpp.o", ".init_array"): "a map that is never destroyed",
    ("datatypes.cpp.o", ".init_array"): "MPI's datatypes, which are no constants",
    ("real.cpp.o", ".init_array"): "MPI's own functions, found behind this layer",
}
REGISTERS = re.compile(r"^(?:.*[:/])?([^:/]+\.o):\s+U (__cxa_thread_atexit|__cxa_atexit|atexit|on_exit|at_quick_exit)\b")
SECTION = re.compile(r"^\s*\d+ (\.(?:init|fini)_array|\.[cd]tors)\b")
FILE = re.compile(r"^(?:.*/)?(\S+\.o):\s+file format")


def lines_of(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()


def found_in(nm, objdump, files):
    """(object file, what it registers) of all files."""
    for line in lines_of(nm, "-A", "-u", *files):
        if match := REGISTERS.match(line):
            yield match.groups()
    current = None
    for line in lines_of(objdump, "-h", *files):
        if match := FILE.match(line):
            current = match.group(1)
        elif match := SECTION.match(line):
            yield current, match.group(1)


def main(nm, objdump, *files):
    objects = sum(FILE.match(line) is not None for line in lines_of(objdump, "-h", *files))
    wrong = sorted(set(found_in(nm, objdump, files)) - set(ALLOWED))
    for name, what in wrong:
        print(f"{name}: {what}: destroyed before somebody's last call, or made after somebody's first? Use `*new`, memory of "
              f"the rank, or something without a destructor; or list it in {__file__} with the reason")
    if objects < len(files):
        print(f"{objects} object files in {files}")
    return 1 if wrong or objects < len(files) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
