#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Carries out pages of docs/start as a reader would, and compares what their programs print with what the pages say.

usage: start.py BUILD[:BUILD] LIBDIR PAGE…        for example: start.py build/release lib openmp c

Each BUILD is installed into a temporary prefix. A page is a script of fenced blocks, in their order. The comment on the line
before a block says what it is:

<!-- packages -->    commands that install what the page needs beyond README's packages; not carried out here
<!-- coset -->       commands in coset's folder that build and install what the page needs beyond README's; not carried out here
<!-- file: NAME -->  a file of the reader's folder, which holds all files of one page
<!-- build -->       commands in that folder
<!-- run -->         likewise
<!-- prints -->      what the commands of the last block before it print; … stands for anything within a line

`<!-- build, minutes -->` and the like are for readers and for first_hour.py; not carried out here.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import markdown

PAGES = markdown.ROOT / "docs/start"
COMMANDS = ("packages", "coset", "build", "run")
AS_ROOT = {f"OMPI_{name}": "1" for name in ("ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM", "MCA_rmaps_base_oversubscribe")}


def install(build, prefix):
    """One test at a time: each writes the manifest of the build."""
    subprocess.run(["flock", f"{build}/CMakeCache.txt", "cmake", "--install", build, "--prefix", prefix], check=True,
                   stdout=subprocess.DEVNULL)


def steps(page, minutes=False):
    """(kind, name, text) of each block that is carried out; the name is that of a file. With `minutes` also those that take so
    long."""
    for block in markdown.blocks((PAGES / f"{page}.md").read_text(encoding="utf-8")):
        kind, _, name = (block.marker.removesuffix(", minutes") if minutes else block.marker).partition(": ")
        if kind == "file" or kind in COMMANDS or kind == "prints":
            yield kind, name, block.text


def of_this_build(commands):
    """Where there are several Pythons or MPIs, these are what it was built for."""
    for name, ours in (("python3", sys.executable), ("mpirun", os.environ.get("COSET_MPIEXEC", "mpirun"))):
        commands = re.sub(rf"(?<![\w-]){name} ", f"{ours} ", commands)
    return commands


def matches(expected, said):
    pattern = re.escape(expected.strip()).replace(re.escape("…"), ".*")
    return re.fullmatch(pattern, said.strip()) is not None


def environment(prefix, libdir):
    lib = prefix / libdir
    python = next(prefix.glob("lib/python3*/dist-packages"), prefix)
    return {**os.environ, **AS_ROOT, "PKG_CONFIG_PATH": str(lib / "pkgconfig"), "LD_LIBRARY_PATH": str(lib),
            "CMAKE_PREFIX_PATH": str(prefix), "PYTHONPATH": str(python)}


def carry_out(page, folder, variables):
    """What is wrong, and how many outputs have been compared."""
    said, compared = "", 0
    folder.mkdir()
    for kind, name, text in steps(page):
        if kind == "file":
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("/path/to/coset", str(markdown.ROOT)), encoding="utf-8")
        elif kind == "prints":
            compared += 1
            if not matches(text, said):
                return f"docs/start/{page}.md: the page says\n{text}but its commands print\n{said}", compared
        elif kind in ("build", "run"):
            done = subprocess.run(["bash", "-euc", of_this_build(text)], cwd=folder, env=variables, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            said = done.stdout
            if done.returncode != 0:
                return f"docs/start/{page}.md: exit status {done.returncode} of\n{text}{said}", compared
    return "" if compared else f"docs/start/{page}.md: nothing is printed", compared


def main():
    builds, libdir, pages = sys.argv[1].split(":"), sys.argv[2], sys.argv[3:]
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        folder = pathlib.Path(name)
        for build in builds:
            install(build, folder / "prefix")
        variables = environment(folder / "prefix", libdir)
        results = list(pool.map(lambda page: carry_out(page, folder / page, variables), pages))
    for page, (fault, compared) in zip(pages, results):
        print(fault or f"{page}: {compared} outputs as the page says")
    return 1 if any(fault for fault, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main())
