#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which verb has which form in Fortran, in Python, and below MPI's calls: blocking and started. A form that is missing has its
reason below; a reason for what is there is wrong, too. In C++ and C a form that is missing does not compile:
src/bindings/c/verbs.cpp. In Fortran one that its row in src/bindings/fortran/verbs.cmake names is generated."""
import pathlib
import re
import sys

import verbs

PROJECT = verbs.PROJECT

SHARED_IN_PYTHON = "its result lies in memory that is no rank's array"
VIEW_ENDS = "a view lasts until the next call of its verb, so nothing may be under way meanwhile"
WHY_NOT = {
    ("allreduce_view", "Fortran started"): VIEW_ENDS,
    ("allreduce_view", "Python"): SHARED_IN_PYTHON,
    ("allreduce_view", "Python started"): VIEW_ENDS,
    ("reduce_shared", "Python"): SHARED_IN_PYTHON,
    ("reduce_shared", "Python started"): SHARED_IN_PYTHON,
}


def read(*patterns):
    files = [file for pattern in patterns for file in sorted(PROJECT.glob(pattern))]
    return "\n".join(file.read_text(errors="replace") for file in files)


def has_mpi():
    rows = re.findall(r'verb_row\{verb::(\w+),.*?same_array::\w+,\s*\{"(\w*)"', read("include/coset/verbs/verb.hpp"), re.S)
    return {name for name, in_mpi in rows if in_mpi}


def surfaces():
    """(name, text, pattern of a verb's form, the verbs that may have it)"""
    every = set(verbs.verbs())
    fortran, python = read("src/bindings/fortran/verbs.cmake"), read("src/bindings/python/members.cpp")
    entries = read("src/mpi/preload/entries/collectives.cpp")
    return [
        ("Fortran", fortran, r"coset_fortran_verb\({}\b[^)]*\bblocking\b", every),
        ("Fortran started", fortran, r"coset_fortran_verb\({}\b[^)]*\bstarted\b", every),
        ("Python", python, r"\{{\s*verb::{},", every),
        ("Python started", python, r"\{{\s*verb::{},", every),
        ("MPI", entries, r"(?:, {},|verb::{}\b)", has_mpi()),
    ]


def holes():
    found = set()
    for surface, text, pattern, verbs_of_it in surfaces():
        for verb in verbs_of_it:
            if not re.search(pattern.format(verb, verb), text):
                found.add((verb, surface))
    return found


def main():
    found = holes()
    for verb, surface in sorted(found):
        print(f"{verb}: not in {surface}: {WHY_NOT.get((verb, surface), 'NO REASON')}")
    wrong = sorted(set(WHY_NOT) - found)
    for verb, surface in wrong:
        print(f"{verb}: is in {surface}, which has a reason not to have it")
    return 0 if found == set(WHY_NOT) else 1


if __name__ == "__main__":
    sys.exit(main())
