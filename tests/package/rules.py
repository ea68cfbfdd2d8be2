#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is installed is what is built: each file that a rule of this build installs is made by the target coset_installed, which
./dev builds before it installs or packs, and by a build of everything; or it was there once CMake had configured.

usage: rules.py BUILD

Reads what CMake has written for ninja; nothing is built or installed.
"""
import pathlib
import re
import sys

RULE = re.compile(r"file\(INSTALL .*? FILES(.*?)\)\n", re.DOTALL)
EDGE = re.compile(r"^build (.*?): \S+(.*)$", re.MULTILINE)


def installed(build):
    """The files and, with a slash at the end, the folders of the build that rules install."""
    for script in build.rglob("cmake_install.cmake"):
        for rule in RULE.finditer(script.read_text(encoding="utf-8")):
            for path in re.findall(r'"([^"]+)"', rule[1]):
                if path.startswith(f"{build}/"):
                    yield path


def edges(build):
    """Of each file that ninja makes, what is made together with it, and what that takes."""
    absolute = lambda words: {str(build / word) for word in words.split() if word.strip("|")}
    found = {}
    for edge in EDGE.finditer((build / "build.ninja").read_text(encoding="utf-8")):
        outputs, inputs = absolute(edge[1]), absolute(edge[2])
        found.update((output, (outputs, inputs)) for output in outputs)
    return found


def made_by(target, made):
    found, left = set(), [target]
    while left:
        outputs, inputs = made.get(left.pop(), (set(), set()))
        if not outputs <= found:
            found |= outputs
            left += inputs
    return found


def is_made(path, files):
    # What a folder will have is not known: somebody has to make something beside it.
    return any(each.startswith(str(pathlib.Path(path).parent) + "/") for each in files) if path.endswith("/") else path in files


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    made, paths, wrong = edges(build), sorted(set(installed(build))), []
    of_target = {target: made_by(str(build / target), made) for target in ("coset_installed", "all")}
    for path in paths:
        if path in made or path.endswith("/"):
            wrong += [f"{target} does not make {path}" for target, files in of_target.items() if not is_made(path, files)]
        elif not pathlib.Path(path).exists():
            wrong.append(f"nobody makes {path}")
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"{len(paths)} files and folders of the build are installed; {len(wrong)} times one is not made")
    return 1 if wrong or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
