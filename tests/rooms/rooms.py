#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes between rooms go the way arrows.txt says, that docs/architecture.md shows the same, and that
foreign files are opened in one place.

usage: rooms.py [--picture]

--picture prints what docs/architecture.md has to show. Without it, every arrow that is not allowed is printed, and
the exit status is 1 if there is one.
"""
import dataclasses
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURE_IN = ROOT / "docs/architecture.md"
RAW_STRING = re.compile(r'R"([^(\s]*)\(.*?\)\1"', re.DOTALL)  # what a program writes into another
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)


OPENED = re.compile(r"\bi?fstream\b|\bfopen *\(")
READ_WHAT_THE_SYSTEM_WRITES = {"numa/quota.cpp", "src/command/bench/facts.cpp", "src/command/restart.cpp", "src/command/measure/machine/parking.cpp"}


@dataclasses.dataclass
class Room:
    name: str
    folder: pathlib.Path
    may_include: set
    walls: set


def rooms_in(text):
    """In the order of the file, the uppermost first. Raises ValueError for a room that includes one above it."""
    rooms = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, rest = line.split(":", 1)
        arrows, _, walls = rest.partition("|")
        folder, *may_include = arrows.split()
        rooms[name] = Room(name, pathlib.PurePosixPath(folder), set(may_include), set(walls.split()))
    order = list(rooms)
    for room in rooms.values():
        for other in room.may_include:
            if other not in rooms or order.index(other) <= order.index(room.name):
                raise ValueError(f"{room.name} cannot include {other}, which is not below it")
    return rooms


def room_of_header(rooms, header):
    """The innermost that its path leads into: "runtime/flight.hpp" is of src/runtime, "coset/plan.hpp" public."""
    path = pathlib.PurePosixPath("include" if header.startswith("coset/") else "src") / header
    return room_of_file(rooms, path) or room_of_file(rooms, pathlib.PurePosixPath(header))


def room_of_file(rooms, path):
    """Of a path from the project's top."""
    around = [room for room in rooms.values() if room.folder in path.parents]
    return max(around, key=lambda room: len(room.folder.parts)).name if around else None


def wall_of_header(rooms, header):
    """The foreign library that has a wall somewhere: "hwloc.h", "hwloc/helper.h" and "hwy/highway.h"."""
    first = re.split(r"[/.]", header)[0]
    return first if any(first in room.walls for room in rooms.values()) else None


def wrong_includes(rooms, room, text):
    """What of a file of `room` goes where no arrow leads."""
    for quoted, angled in INCLUDE.findall(RAW_STRING.sub('""', text)):
        header = quoted or angled
        if ".." in pathlib.PurePosixPath(header).parts:
            yield f'includes "{header}": headers are named from the top'
            continue
        to = room_of_header(rooms, header) if "/" in header else None
        if to is not None and to != room.name and to not in room.may_include:
            yield f'includes "{header}": no arrow leads from {room.name} to {to}'
        elif to is None and (wall := wall_of_header(rooms, header)) and wall not in room.walls:
            yield f"includes <{header}>: {wall} stays behind its wall"


def files_of(rooms, room):
    for path in sorted((ROOT / room.folder).rglob("*")):
        if path.suffix in (".cpp", ".hpp", ".h") and room_of_file(rooms, path.relative_to(ROOT)) == room.name:
            yield path


def homeless(rooms):
    """Sources that no room has."""
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in (".cpp", ".hpp", ".h", ".f90") and room_of_file(rooms, path.relative_to(ROOT)) is None:
            yield f"{path.relative_to(ROOT)} is in no room of arrows.txt"


def files_opened():
    """In src and numa, by other means than src/base/text/file.hpp."""
    for folder in ("src", "numa"):
        for path in sorted((ROOT / folder).rglob("*.?pp")):
            own = path.relative_to(ROOT).as_posix()
            if own not in READ_WHAT_THE_SYSTEM_WRITES and OPENED.search(path.read_text(encoding="utf-8")):
                yield f"{own} opens a file to read it: what others wrote is read by way of src/base/text/file.hpp"


def heights(rooms):
    """0 for what includes nothing; else one more than the highest that it includes."""
    found = {}
    for name in reversed(list(rooms)):
        found[name] = 1 + max((found[other] for other in rooms[name].may_include), default=-1)
    return found


def picture(rooms):
    """A line for each height, the highest first: a room includes rooms of lower lines only."""
    height = heights(rooms)
    lines = ["```"]
    for level in range(max(height.values()), -1, -1):
        here = [name for name in rooms if height[name] == level]
        lines.append("   ".join(f"{name:9}" for name in here).rstrip())
    return "\n".join(lines + ["```"]) + "\n"


def main(arguments):
    rooms = rooms_in((pathlib.Path(__file__).parent / "arrows.txt").read_text(encoding="utf-8"))
    if arguments == ["--picture"]:
        print(picture(rooms), end="")
        return 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    wrong = [f"{path.relative_to(ROOT)} {what}" for room in rooms.values() for path in files_of(rooms, room)
             for what in wrong_includes(rooms, room, path.read_text(encoding="utf-8"))]
    wrong += homeless(rooms)
    wrong += files_opened()
    if picture(rooms) not in PICTURE_IN.read_text(encoding="utf-8"):
        wrong.append(f"{PICTURE_IN.relative_to(ROOT)} does not show what rooms.py --picture prints")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
