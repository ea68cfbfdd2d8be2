#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an #include costs: a file that has nothing else, compiled without optimisation.

usage: include_time.py [HEADER…]      coset/coset.hpp, coset/omp.hpp and coset/tbb.hpp unless named

Prints for g++ and clang++, where they are installed: milliseconds of processor time; how many times <vector> that is, which
varies less from machine to machine; the part that the headers of others take by themselves, which these lead to; and
the lines that the compiler reads. Times are medians of 7 turns. The headers are those of this source tree.
"""
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/rooms"))
from public_headers import read_by  # noqa: E402

TURNS = 7
HEADERS = ["coset/coset.hpp", "coset/omp.hpp", "coset/tbb.hpp"]


def compiled(compiler, headers, *flags):
    return subprocess.run([compiler, "-std=c++20", "-O0", "-fopenmp", "-I", ROOT / "include", *flags, "-x", "c++", "-"],
                          check=True, text=True, stdout=subprocess.PIPE, input="".join(f"#include <{each}>\n" for each in headers))


def milliseconds(compiler, headers):
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return 1000 * (usage.ru_utime + usage.ru_stime)

    before = spent()
    compiled(compiler, headers, "-c", "-o", "/dev/null")
    return spent() - before


def lines(compiler, headers):
    return len(compiled(compiler, headers, "-E", "-P").stdout.splitlines())


def row(compiler, header):
    others = sorted(read_by(header)[1]) if header.startswith("coset/") else [header]
    turns = [[milliseconds(compiler, headers) for headers in (["vector"], [header], others)] for _ in range(TURNS)]
    times_vector = statistics.median(ours / unit for unit, ours, _ in turns)
    of_others = statistics.median(theirs / ours for _, ours, theirs in turns)
    ours = statistics.median(ours for _, ours, _ in turns)
    return f"| {compiler} | `{header}` | {ours:.0f} | {times_vector:.1f} | {of_others:.0%} | {lines(compiler, [header]):,} |"


def main(headers):
    print("| compiler | header | ms | times `<vector>` | of others | lines |\n|---|---|---:|---:|---:|---:|")
    for compiler in filter(shutil.which, ["g++", "clang++"]):
        for header in headers or HEADERS:
            print(row(compiler, header), flush=True)


if __name__ == "__main__":
    if "--help" in sys.argv or "-h" in sys.argv:
        print(__doc__.strip())
    else:
        main(sys.argv[1:])
