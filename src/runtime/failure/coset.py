# SPDX-License-Identifier: Apache-2.0
"""A command of gdb's: where the ranks of all teams of a process are, as coset::dump() says it; in a core file, too.

    (gdb) source /usr/share/gdb/coset.py
    (gdb) coset-teams

It needs no debug information, only the symbol teams_to_look_at of each copy of coset in the process, and calls nothing
in it.
"""
import re
import struct
import time

import gdb

SYMBOL = "teams_to_look_at"
# As in src/runtime/failure/for_debuggers.cpp.
WORDS = """words first wait begun doing told_operations described_operations since in among number of awaited step steps plan
plan_bytes signature_bytes reduction count rest type operation text_begins_with_its_length verbs number_of_verbs
words_of_verb""".split()
VERB = "name name_bytes tells_length tells_root tells_in_place combines".split()
TEAM = "next total first ranks one_process round places".split()
NOBODY = 2**32 - 1


def read(address, length):
    return bytes(gdb.selected_inferior().read_memory(address, length))


def word(address):
    return struct.unpack("<Q", read(address, 8))[0]


def half(address):
    return struct.unpack("<I", read(address, 4))[0]


def records(address, names):
    return dict(zip(names, struct.unpack(f"<{len(names)}Q", read(address, 8 * len(names)))))


def text_at(address, at):
    first, second = word(address), word(address + 8)
    length, begin = (first, second) if at["text_begins_with_its_length"] else (second, first)
    return read(begin, length).decode() if length < 4096 else "?"


def nanoseconds_now():
    """Of the clock that ranks tell; nothing in a core file, whose time is over."""
    connection = gdb.selected_inferior().connection
    is_alive = connection is not None and connection.type == "native"
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) if is_alive else None


def ranges(ranks):
    parts, k = [], 0
    while k < len(ranks):
        last = k
        while last + 1 < len(ranks) and ranks[last + 1] == ranks[last] + 1:
            last += 1
        between = ", " if last == k + 1 else "-"
        parts.append(str(ranks[k]) + (between + str(ranks[last]) if last != k else ""))
        k = last + 1
    return ("rank " if len(ranks) == 1 else "ranks ") + ", ".join(parts)


class Team:
    def __init__(self, address, at, now):
        self.at, self.now = at, now
        self.of = records(address, TEAM)

    def act(self, signature):
        at = self.at
        table, rest = word(signature + at["reduction"]), word(signature + at["rest"])
        if table == 0:
            return "nothing yet"
        number = rest >> 1 & 31
        if number >= at["number_of_verbs"]:
            return "?"
        row = records(at["verbs"] + 8 * at["words_of_verb"] * number, VERB)
        combines = rest >> 38 & 3
        if combines:
            text = ("combine(add)", "combine(assign)")[combines - 1]
            return f"{text} of {word(signature + at['count'])} elements" if row["combines"] else text
        verb = read(row["name"], row["name_bytes"]).decode()
        if not row["tells_length"]:
            return verb
        kind = "elements"
        if self.of["one_process"]:  # other processes' tables are not here
            kind = f"{text_at(table + at['type'], at)} ({text_at(table + at['operation'], at)})"
        text = f"{verb} of {word(signature + at['count'])} {kind}"
        if rest >> 7 & 1:
            text += ", counts of their own"
        if row["tells_root"]:
            text += f", root {rest >> 8 & 0x3FFFFFFF}"
        if rest & 1 and row["tells_in_place"]:
            text += ", in place"
        if rest >> 40:
            text += f", plan {rest >> 40}"
        return text

    def wait(self, told):
        """What the rank waits for, as src/runtime/failure/ranks_in_words.cpp says it."""
        at = self.at
        awaited, among = half(told + at["awaited"]), half(told + at["among"])
        here = among & 1 == 0
        peer = "others" if awaited == NOBODY else f"rank {awaited}" if here else f"its rank {awaited}"
        text = [f"for {peer} to begin", f"for {peer} to get on with", f"for {peer} to end what comes before",
                f"for a message of {peer} in", "until its messages are received, in",
                "for the other hosts to combine, in"][half(told + at["of"])]
        text += f" operation {half(told + at['number'])}, {self.act(told + at['in'])}"
        plan = read(told + at["plan"], at["plan_bytes"])
        if plan[0] != 0:
            text += ", planned as " + plan.split(b"\0")[0].decode(errors="replace") + ("…" if plan[-1] != 0 else "")
        text += f": step {half(told + at['step'])} of {half(told + at['steps'])}"
        return text + ("" if here else f", in another team, of {among // 2} ranks")

    def state(self, place):
        """Verbs for one rank and for several, the rest, and since when it waits."""
        at = self.at
        line, of_its_thread, left = (word(place + 8 * k) for k in range(3))
        for each in (line, of_its_thread):
            told = each + at["wait"]
            since = word(told + at["since"])
            if since != 0:
                return ("has waited", "have waited", " " + self.wait(told)), since
        begun = [word(line + at["begun"] + 8 * k) >> 32 for k in range(at["told_operations"])]
        latest = max(begun)
        round_now = half(self.of["round"])
        has_left = round_now != 0 and half(left) == round_now
        if latest == 0:
            return (("has left", "have left", " without any operation") if has_left else
                    ("has begun", "have begun", " no operation yet")), 0
        signature = line + at["doing"] + latest % at["described_operations"] * at["signature_bytes"]
        act = f" operation {latest}, {self.act(signature)}"
        if has_left:
            return ("has left", "have left", " after" + act), 0
        if word(signature + at["rest"]) >> 6 & 1:
            return ("has started", "have started", act + ", and does not wait"), 0
        return ("is", "are", " in no wait of coset's, and began last" + act), 0

    def time(self, since):
        if since == 0 or self.now is None:
            return ""
        seconds = max(self.now - since, 0) * 1e-9
        return f" {seconds:.1f} s" if seconds < 10 else f" {seconds:.0f} s"

    def print(self):
        groups = {}
        for r in range(self.of["ranks"]):
            state, since = self.state(self.of["places"] + 24 * r)
            mine = groups.setdefault(state, [since, []])
            mine[0] = min(mine[0], since)
            mine[1].append(self.of["first"] + r)
        print(f"coset: a team of {self.of['total']} ranks")
        for (of_one, of_several, rest), (since, ranks) in groups.items():
            print(f"coset:   {ranges(ranks)} {of_one if len(ranks) == 1 else of_several}{self.time(since)}{rest}")
        if self.of["ranks"] != self.of["total"]:
            print(f"coset:   ranks that share no memory with these: {self.of['total'] - self.of['ranks']}")


def copies():
    """Where each copy of coset in the process has its list. Two may have one name, and gdb evaluates that of one only."""
    found = gdb.execute(f"info variables ::{SYMBOL}$", to_string=True)
    without_types = {int(at, 16) for at in re.findall(rf"^(0x[0-9a-f]+)\s.*::{SYMBOL}$", found, re.MULTILINE)}
    with_types = {int(gdb.parse_and_eval(f"(unsigned long)&'{name}'"))
                  for name in re.findall(rf"\s(coset::\w+::detail::{SYMBOL});", found)}
    return without_types | with_types


class CosetTeams(gdb.Command):
    """Where the ranks of coset's teams are: in what operation, waiting for whom, for how long."""

    def __init__(self):
        super().__init__("coset-teams", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        lists = [records(address, WORDS) for address in sorted(copies())]
        if not lists:
            raise gdb.GdbError(f"{SYMBOL} is not there: the program does not use coset, or is not loaded yet")
        if any(at["words"] != len(WORDS) for at in lists):
            raise gdb.GdbError("this script is of another version of coset than the program")
        if all(at["first"] == 0 for at in lists):
            print("coset: no team")
        now = nanoseconds_now()
        for at in lists:
            team = at["first"]
            while team != 0:
                Team(team, at, now).print()
                team = word(team)


CosetTeams()
