#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the interface of libcoset.so that programs are compiled against with the one on record, by libabigail.

usage: check.py COMPILER LIBRARY [--renew]

The record is of two parts: the symbols that the library exports, and the types and values that public headers give to
programs: signatures of C functions, values of enumerators, and the layout of what types.cpp names. What is added is no
change. With --renew the present interface becomes the record; README.md says when.
Ends with status 77 where libabigail is missing, or the record of this processor and version of g++, whose library's types
are part of coset's.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"


def run(*command):
    subprocess.run(list(map(str, command)), check=True)


def record_of(compiler):
    """The folder for what this compiler compiles, such as x86_64-linux-gnu-12."""
    asked = [subprocess.run([compiler, option], check=True, capture_output=True, text=True).stdout.strip()
             for option in ("-dumpmachine", "-dumpversion")]
    return HERE / "-".join(asked)


def exported_c_functions(library):
    listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return sorted(set(re.findall(r" T (coset_\w+)", listed)))


def enumerators():
    """Their names, from the C headers."""
    for header in ("coset.h", "verbs/coset_pieces.h", "coset_reducer.h"):
        text = re.sub(r"//[^\n]*", "", (INCLUDE / "coset" / header).read_text())
        for body in re.findall(r"\benum\s*\w*\s*\{([^}]*)\}", text):
            yield from re.findall(r"(COSET_\w+)\s*=", body)


def write_programs_view(source, functions):
    """Writes what a program sees: each function's type is that of a pointer, each value the length of an array."""
    lines = ['#include "%s"' % (HERE / "types.cpp"), 'extern "C" {']
    lines += [f"decltype(&{name}) abi_of_{name} = nullptr;" for name in functions]
    lines += [f"char abi_of_{name}[{name} + 1000];" for name in enumerators()]
    source.write_text("\n".join([*lines, "}", ""]))


def describe(compiler, library, folder):
    """Writes symbols.abi and types.abi."""
    run("abidw", "--no-corpus-path", "--no-comp-dir-path", "--out-file", folder / "symbols.abi", library)
    source = folder / "view.cpp"
    write_programs_view(source, exported_c_functions(library))
    run(compiler, "-std=c++20", "-g", "-O0", "-fPIC", "-shared", "-I", INCLUDE, source, "-o", folder / "view.so",
        "-Wl,--unresolved-symbols=ignore-all")
    run("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--out-file", folder / "types.abi",
        folder / "view.so")


def main(compiler, library, *options):
    if not shutil.which("abidw"):
        print("abidw is missing; Debian has it in abigail-tools")
        return 77
    record = record_of(compiler)
    if options == ("--renew",):
        record.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            describe(compiler, library, pathlib.Path(folder))
            for part in ("symbols.abi", "types.abi"):
                shutil.copyfile(pathlib.Path(folder) / part, record / part)
        return 0
    if not record.exists():
        print(f"there is no record for {record.name}")
        return 77
    changed = False
    with tempfile.TemporaryDirectory() as folder:
        describe(compiler, library, pathlib.Path(folder))
        for part in ("symbols.abi", "types.abi"):
            changed |= subprocess.run(["abidiff", "--no-added-syms", record / part,
                                       pathlib.Path(folder) / part]).returncode != 0
    if changed:
        print("Programs that are compiled against the interface on record would not run with this one: see tests/abi/README.md")
    return int(changed)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
