#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every C++, C, Fortran and CMake block of the documents compiles: a whole program as it stands, anything else within the file
of contexts/ that a comment on the line before names, <!-- snippet: openmp_histogram -->. Programs that start.py builds and
runs are left to it, unless they need an MPI.

usage: snippets.py BUILD off|openmpi|mpich CXX C [FORTRAN]

BUILD is a build of the library, with its Fortran modules. With an MPI, only blocks that need one are compiled, else all others.
"""
import concurrent.futures
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile

import markdown
import start

CONTEXTS = pathlib.Path(__file__).parent / "contexts"
SUFFIXES = {"cpp": ".cpp", "c": ".c", "fortran": ".f90", "cmake": ".cmake"}
WHOLE = {"cpp": r"\bint main\(", "c": r"\bint main\(", "fortran": r"^program ", "cmake": r"^project\("}
PACKAGES = {"openmpi": "ompi-fort", "mpich": "mpich"}  # with the flags of all three languages
PLACE = re.compile(r"^ *(//|!|#) SNIPPET\n", re.MULTILINE)
INCLUDE = re.compile(r"^#include .*$", re.MULTILINE)
WARNINGS = ["-Wall", "-Werror", "-Wno-unused", "-Wno-unknown-pragmas"]


@dataclasses.dataclass
class Snippet:
    language: str
    code: str  # with what is around it
    where: str
    is_file: bool = False  # of a page that start.py carries out


def snippets():
    """All of them; raises ValueError for one that is neither a program nor within a context."""
    for path in markdown.files():
        for block in markdown.blocks(path.read_text(encoding="utf-8")):
            if block.language not in SUFFIXES:
                continue
            where = f"{path.relative_to(markdown.ROOT)}:{block.line}"
            name = re.fullmatch(r"snippet: (\w+)", block.marker)
            if not name:
                if not re.search(WHOLE[block.language], block.text, re.MULTILINE):
                    raise ValueError(f"{where}: no program, and no <!-- snippet: … --> on the line before")
                around = "// SNIPPET\n"
            else:
                around = (CONTEXTS / (name[1] + SUFFIXES[block.language])).read_text(encoding="utf-8")
            yield Snippet(block.language, PLACE.sub(lambda _: numbered(block, path), around, count=1), where,
                          block.marker.startswith("file: "))


def numbered(block, path):
    """Its lines, which compilers of C and C++ count as those of the document."""
    if block.language not in ("cpp", "c"):
        return block.text
    return f'#line {block.line} "{path.relative_to(markdown.ROOT)}"\n{block.text}#line 1 "context"\n'


def together(all_of_them):
    """One file of C++, each snippet in a namespace of its own: headers are read once."""
    includes = sorted({line for s in all_of_them for line in INCLUDE.findall(s.code)})
    bodies = [f"namespace snippet_{k} {{\n{INCLUDE.sub('', s.code)}}}\n" for k, s in enumerate(all_of_them)]
    return "\n".join(includes + bodies)


def run(command, where, folder):
    done = subprocess.run([str(word) for word in command], cwd=folder, check=False, capture_output=True, text=True)
    return [] if done.returncode == 0 else [f"{where}: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}"]


def is_built_elsewhere(snippet):
    return snippet.is_file and snippet.language != "cmake" and not needs_mpi(snippet)


def needs_mpi(snippet):
    return re.search(r'mpi\.h\b|coset_mpi|coset/mpi', snippet.code) is not None


def compile_file(folder, name, code, command, where):
    (folder / name).write_text(code, encoding="utf-8")
    return run([*command, name], where, folder)


def configure(folder, name, snippet, prefix, compilers):
    """A project that finds an installed coset; nothing is built."""
    project = folder / name
    project.mkdir()
    for source in ("main.cpp", "main.f90"):
        (project / source).write_text("", encoding="utf-8")
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(app LANGUAGES C CXX)\n" +
        snippet.code.replace("/path/to/coset", str(markdown.ROOT)), encoding="utf-8")
    return run(["cmake", "-S", project, "-B", project / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", *compilers],
               snippet.where, folder)


def tasks(build, mpi, compilers, folder):
    """Calls that return what is wrong."""
    cxx, c, fortran = (compilers + [None])[:3]
    flags = ["-fsyntax-only", "-fopenmp"]
    if mpi != "off":
        shown = subprocess.run(["pkg-config", "--cflags", PACKAGES[mpi]], check=True, capture_output=True, text=True)
        flags += shown.stdout.split()
    include = f"-I{markdown.ROOT / 'include'}"
    here = [s for s in snippets() if needs_mpi(s) == (mpi != "off") and not is_built_elsewhere(s)]
    of = {language: [s for s in here if s.language == language] for language in SUFFIXES}
    programs = [s for s in of["cpp"] if re.search(WHOLE["cpp"], s.code)]
    files = [(s.code, s.where) for s in programs] + [(together([s for s in of["cpp"] if s not in programs]), "C++")]
    for k, (code, where) in enumerate(files):
        yield compile_file, folder, f"{k}.cpp", code, [cxx, "-std=c++20", *flags, *WARNINGS, include], where
    for k, s in enumerate(of["c"]):
        yield compile_file, folder, f"{k}.c", s.code, [c, "-std=c11", *flags, *WARNINGS, include], s.where
    modules = sorted({f"-I{path.parent}" for path in build.rglob("coset*.mod")})
    for k, s in enumerate(of["fortran"] if fortran else []):
        yield compile_file, folder, f"{k}.f90", s.code, [fortran, *flags, *modules], s.where
    prefix = folder / "prefix"
    if of["cmake"]:
        start.install(build, prefix)
    named = [f"-DCMAKE_CXX_COMPILER={cxx}", f"-DCMAKE_C_COMPILER={c}"]
    named += [f"-DCMAKE_Fortran_COMPILER={fortran}"] if fortran else []
    for k, s in enumerate(of["cmake"]):
        if fortran or "Fortran" not in s.code:
            yield configure, folder, f"project{k}", s, prefix, named


def main():
    build, mpi, compilers = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3:]
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        results = [pool.submit(*task) for task in tasks(build, mpi, compilers, pathlib.Path(name))]
        wrong = [each for result in results for each in result.result()]
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"{len(results)} compilations and configurations, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
