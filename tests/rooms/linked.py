#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that what objects of one room need of another room's leads downwards in arrows.txt: who calls across includes, as
templates of public headers do, is seen by its symbols alone.

usage: linked.py BUILD [--arrows]

--arrows prints how many symbols lead from which room to which.
"""
import collections
import pathlib
import re
import subprocess
import sys

import rooms

OF_NOBODY = ("tests", "examples")  # they may use whatever they like


def objects(build):
    """(room, file) of each object that is part of a room."""
    all_rooms = rooms.rooms_in((pathlib.Path(__file__).parent / "arrows.txt").read_text(encoding="utf-8"))
    for file in sorted(build.rglob("*.o")):
        path = file.relative_to(build)
        if path.parts[0] in OF_NOBODY:
            continue
        source = pathlib.PurePosixPath(re.sub(r"CMakeFiles/[^/]*\.dir/", "", path.as_posix()))
        room = rooms.room_of_file(all_rooms, source)
        if room and has_source(source.with_suffix(""), build):
            yield room, file


def has_source(source, build):
    """Builds keep the objects of sources that have moved or gone."""
    return source.parent.name == "Unity" or any((top / source).exists() for top in (rooms.ROOT, build))


def symbols(found):
    """{symbol: rooms that define it}, {(room, symbol): an object of the room that needs it}: coset's own."""
    defined, needed = collections.defaultdict(set), {}
    for room, file in found:
        for line in subprocess.run(["nm", file], check=True, capture_output=True, text=True).stdout.splitlines():
            kind, name = line.split()[-2:]
            if "coset" not in name:
                continue
            if kind in "TDBR":
                defined[name].add(room)
            elif kind == "U":
                needed.setdefault((room, name), file)
    return defined, needed


def arrows(defined, needed):
    """{(from, to): symbols}: of what one room alone defines."""
    found = collections.defaultdict(list)
    for (room, name), file in needed.items():
        owners = defined.get(name, set())
        if len(owners) == 1 and room not in owners:
            found[room, next(iter(owners))].append((name, file))
    return found


def upwards(found, order):
    return {arrow: why for arrow, why in found.items() if order.index(arrow[1]) < order.index(arrow[0])}


def main(build, *options):
    build = pathlib.Path(build)
    order = list(rooms.rooms_in((pathlib.Path(__file__).parent / "arrows.txt").read_text(encoding="utf-8")))
    found = arrows(*symbols(objects(build)))
    if list(options) == ["--arrows"]:
        for (room, to), why in sorted(found.items()):
            print(f"{room} -> {to}: {len(why)}")
    if not found:
        print(f"no objects of several rooms in {build}")
        return 1
    wrong = upwards(found, order)
    for (room, to), why in sorted(wrong.items()):
        name, file = why[0]
        print(f"{room} needs {to}, which is above it: {len(why)} symbols, as {name} in {file.relative_to(build)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
