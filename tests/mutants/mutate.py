#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes the library one statement at a time, and looks whether its tests notice. See README.md."""
import argparse
import collections
import fcntl
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from changes import changes_of, names_of
from explained import Explained
from runs import Runs, tests_of

TOP = Path(__file__).resolve().parents[2]
BUILD = TOP / "build/release"
OWN = TOP / "build/mutants"

OF_RANKS_AT_WORK = [
    "runtime_parts_test", "api_calls_test", "team_between_runs_test", "runtime_executor_test", "team_task_run_test",
    "runtime_learning_test",
    "runtime_requests_test", "team_adopt_test", "team_team_test",
    "team_lifetimes_test", "runtime_pairs_test", "team_split_test", "runtime_failure_test", "team_buffer_test",
    "team_nodes_test", "runtime_rules_test", "runtime_messages_test", "runtime_process_test", "runtime_quiet_test",
    "team_plans_test", "runtime_overlap_test", "runtime_mismatch_test", "team_verbs_test", "runtime_sequences_test",
    "runtime_storm_test"]

# Of each room the tests that cover it, as ctest knows them: first those that find most in the least time. All of them at
# small effort.
TESTS = {
    "src/planning/program": ["program_bind_test", "program_sequences_test", "program_teeth_test", "runtime_executor_test",
                    "team_task_run_test", "program_choices_test", "program_every_algorithm_test", "runtime_messages_test"],
    "src/planning/plan": ["plan_parts_test", "plan_of_ranks_test", "api_calls_test", "team_plans_test", "team_passed_over_test",
                 "runtime_executor_test", "runtime_mismatch_test", "team_lifetimes_test", "team_nodes_test",
                 "runtime_messages_test", "team_bounds_test", "team_verbs_test"],
    "src/reducer": ["reducer_core_test", "reducer_copies_test", "reducer_memory_test", "reducer_threads_test",
                    "reducer_reducer_test", "reducer_omp_test", "reducer_processes_test"],
    "src/runtime/calls": ["api_exchange_test"] + OF_RANKS_AT_WORK + ["team_passed_over_test"],
    "src/runtime": OF_RANKS_AT_WORK,
    "src/team": OF_RANKS_AT_WORK + ["team_idle_teams_test", "team_limits_test", "team_confined_test", "team_layout_test"],
}
# Those that are changed only where they are named.
TESTS_IF_NAMED = {
    "src/planning/schedule": ["schedule_own_chains_test", "schedule_search_test", "schedule_group_test", "schedule_fold_test",
                     "schedule_every_algorithm_test", "schedule_two_level_test", "schedule_pipelined_test", "program_parts_test",
                     "choice_test"],
}
# Rooms inside those above whose tests are others.
LEFT_OUT = [TOP / "src/runtime/kernels", TOP / "src/runtime/trace", TOP / "src/reducer/updates"]
FEWEST_PRECOMPILED = 5  # of the mutants of one room: its headers take three times what a file does


def sources_of(folder):
    return sorted(f for f in folder.rglob("*")
                  if f.suffix in (".cpp", ".hpp") and not any(room in f.parents for room in LEFT_OUT))


def room_of(file):
    """The innermost that has tests; none of a file elsewhere."""
    rooms = [room for room in TESTS | TESTS_IF_NAMED if file == room or file.startswith(room + "/")]
    return max(rooms, key=len, default=None)


class Mutant:
    def __init__(self, file, text, change, name, drawn_by):
        self.file, self.change, self.name = file, change, name
        self.text = change.of(text)
        self.of_text = hashlib.sha1(text.encode()).hexdigest()[:12]
        self.id = f"{file} | {name}"
        self.drawn_by = f"{file} | {drawn_by}"  # the text, so that a sample does not depend on what mutants are called

    def shown(self):
        return f"{self.file}:{self.change.line}: {self.name}\n  - {self.change.before}\n  + {self.change.after}"


def mutants_of(file):
    text = (TOP / file).read_text()
    changes = changes_of(text)
    looks = {}
    for change, name in zip(changes, names_of(changes)):
        nth = looks[change.before, change.after] = looks.get((change.before, change.after), 0) + 1
        yield Mutant(file, text, change, name, f"{change.before} | {change.after}" + (f" | {nth}" if nth > 1 else ""))


class Build:
    """The commands that made build/release: one file is compiled anew, and tests are linked with it before the library."""

    def __init__(self, todo):
        # Headers that few files wait for would take longer than they save.
        rooms = [room_of(m.file) for m in todo if m.file.endswith(".cpp")]
        self.worth_precompiling = {room for room in rooms if rooms.count(room) >= FEWEST_PRECOMPILED}
        self.linker = [f"-fuse-ld={name}" for name in ("lld", "gold") if shutil.which(f"ld.{name}")][:1]
        entries = json.loads((BUILD / "compile_commands.json").read_text())
        self.commands = {}
        for e in entries:
            if "CMakeFiles/coset.dir/" in e["command"]:
                self.commands[str(Path(e["file"]).relative_to(TOP))] = shlex.split(e["command"])
        self.links = {}
        self.precompiled = set()
        self.dependants = None
        self.lock = threading.Lock()

    def command(self, source, text, to, *more):
        """Without warnings, and hardly optimised: nobody waits for what it makes."""
        command = [word for word in self.commands[source] if word not in ("-O3", "-Werror", "-DFMT_HEADER_ONLY=1")]
        command = command[1:] if Path(command[0]).name == "ccache" else command
        return [command[0], *more, *command[1: command.index("-o")], "-O1", "-w", "-o", str(to), "-c", str(text)]

    def compile(self, source, to, text=None, overlay=None):
        """False where it does not compile."""
        more = []
        if overlay:
            more = [f"-I{overlay}"]
        elif room_of(source) in self.worth_precompiling:
            more = ["-include", str(self.headers(source))]
        return subprocess.run(self.command(source, text or TOP / source, to, *more), cwd=BUILD, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0

    def headers(self, source):
        """What the room's files include, compiled once: most of what each of them takes."""
        room = room_of(source)
        name = OWN / (room.replace("/", "_") + ".hpp")
        with self.lock:
            if name not in self.precompiled:
                lines = {line for file in sources_of(TOP / room) if file.suffix == ".cpp"
                         for line in file.read_text().splitlines() if line.startswith("#include")}
                name.write_text("\n".join(sorted(lines)) + "\n")
                command = self.command(source, name, f"{name}.gch", "-x", "c++-header")
                subprocess.run(command, cwd=BUILD, check=True)
                self.precompiled.add(name)
        return name

    def link(self, binary, objects, to):
        with self.lock:
            if binary not in self.links:
                target = str(binary.relative_to(BUILD))
                ask = ["ninja", "-C", BUILD, "-t", "commands", target]
                said = subprocess.run(ask, capture_output=True, text=True, check=True)
                last = said.stdout.strip().splitlines()[-1]
                self.links[binary] = shlex.split(last.split("&&")[1])
        command = list(self.links[binary])
        command[command.index("-o") + 1] = str(to)
        command[1:1] = [str(o) for o in objects]
        subprocess.run(command + self.linker + ["-lfmt"], cwd=BUILD, check=True)

    def sources_with(self, header):
        """The library's files that include it."""
        with self.lock:
            if self.dependants is None:
                said = subprocess.run(["ninja", "-C", BUILD, "-t", "deps"], capture_output=True, text=True, check=True).stdout
                self.dependants = {}
                source = None
                for line in said.splitlines():
                    if line and not line.startswith(" "):
                        name = line.split(":")[0]
                        source = name[len("CMakeFiles/coset.dir/"):-2] if name.startswith("CMakeFiles/coset.dir/") else None
                    elif source and line.strip():
                        path = os.path.normpath(BUILD / line.strip())
                        self.dependants.setdefault(path, []).append(source)
        return self.dependants.get(str(TOP / header), [])


def objects_of(build, mutant, place):
    """None where the change does not compile."""
    if mutant.file.endswith(".cpp"):
        source, made = place / "mutant.cpp", place / "mutant.o"
        source.write_text(mutant.text)
        return [made] if build.compile(mutant.file, made, text=source) else None
    overlay = place / "include"
    changed = overlay / Path(mutant.file).relative_to("src")
    changed.parent.mkdir(parents=True, exist_ok=True)
    changed.write_text(mutant.text)
    made = []
    try:
        for source in build.sources_with(mutant.file):
            made.append(place / (source.replace("/", "_") + ".o"))
            if not build.compile(source, made[-1], overlay=overlay):
                return None
    finally:
        changed.unlink()
    return made


def judge(build, mutant, place, tests, runs):
    """Which test notices, and how; "survived" where none does, "invalid" where it does not compile."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    objects = objects_of(build, mutant, place)
    if not objects:
        return "invalid", ""
    for test in tests:
        linked = place / test.binary().name  # which several tests may be part of
        if not linked.exists():
            build.link(test.binary(), objects, linked)
        how = runs.run(test, linked)
        if how != "passed":
            return how, test.name
    return "survived", ""


class Results:
    """What was found, kept as it is found: started again, the rest follows. Of files that have changed nothing is known."""

    def __init__(self, file, fresh):
        self.file, self.known, self.lock = file, {}, threading.Lock()
        if file.exists() and not fresh:
            for line in file.read_text().splitlines():
                r = json.loads(line)
                self.known[r["id"], r["of"]] = r

    def of(self, mutant):
        return self.known.get((mutant.id, mutant.of_text))

    def add(self, mutant, verdict, by, seconds):
        r = {"id": mutant.id, "of": mutant.of_text, "verdict": verdict, "by": by, "seconds": round(seconds, 1)}
        with self.lock:
            self.known[mutant.id, mutant.of_text] = r
            with self.file.open("a") as out:
                out.write(json.dumps(r) + "\n")
        return r


def options():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("paths", nargs="*", metavar="PATH", help="files or rooms to change; all rooms of TESTS unless named")
    few = p.add_mutually_exclusive_group()
    few.add_argument("--sample", type=int, metavar="N", help="only so many, of source files; always the same with the same seed")
    few.add_argument("--only", metavar="FILE", help="only those in a file of results; says which of them were noticed before")
    p.add_argument("--seed", default="1", help="of the sample")
    p.add_argument("--jobs", type=int, default=os.cpu_count(), help="at a time")
    p.add_argument("--limit", type=float, default=30, metavar="SECONDS", help="for one test at most")
    p.add_argument("--again", action="store_true", help="survivors once more, as tests have come")
    p.add_argument("--fresh", action="store_true", help="forget what was found before")
    p.add_argument("--list", action="store_true", help="say what is known, and run nothing")
    return p.parse_args()


def files_of(paths):
    for path in paths or TESTS:
        path = os.path.relpath(os.path.abspath(path), TOP)
        if room_of(path) not in TESTS | TESTS_IF_NAMED:
            sys.exit(f"{path}: no tests are known for it; mutate one of {', '.join(TESTS | TESTS_IF_NAMED)}")
        there = TOP / path
        files = (str(f.relative_to(TOP)) for f in (sources_of(there) if there.is_dir() else [there]))
        yield from (file for file in files if room_of(file) == room_of(path))  # rooms inside have turns of their own


def tests_for(mutant, available, results, runs):
    """First those that noticed most of this file's mutants, for the time that they take."""
    noticed = {}
    for r in list(results.known.values()):
        if r["by"] and r["id"].startswith(mutant.file + " |"):
            noticed[r["by"]] = noticed.get(r["by"], 0) + 1
    return sorted(available[room_of(mutant.file)], key=lambda test: -noticed.get(test.name, 0) / runs.usual_seconds(test))


def tests_by_room(rooms):
    known = tests_of(BUILD)
    for room in rooms:
        names = (TESTS | TESTS_IF_NAMED)[room]
        if unknown := [name for name in names if name not in known]:
            sys.exit(f"ctest knows no {', '.join(unknown)}, which mutate.py names for {room}")
        if missing := [name for name in names if not known[name].command]:
            print(f"not built, and not asked about {room}: {', '.join(missing)}", flush=True)
        yield room, [known[name] for name in names if known[name].command]


def chosen(wanted, all, explained):
    """In no order, so that what is known whenever it is stopped is a fair sample; and what was found before of those in
    the file that --only names."""
    if wanted.only:
        before = {r["id"]: r for r in map(json.loads, Path(wanted.only).read_text().splitlines())}
        for id in before.keys() - {m.id for m in all}:
            print(f"no such mutant any more: {id}")
        return [m for m in all if m.id in before], before
    todo = [m for m in all if not explained.reason_for(m)]
    todo.sort(key=lambda m: hashlib.sha1((wanted.seed + m.drawn_by).encode()).digest())
    return [m for m in todo if m.file.endswith(".cpp")][: wanted.sample] if wanted.sample else todo, {}


class Judging:
    """Judges mutants, several at a time, and counts what is found."""

    def __init__(self, wanted, todo, results, before):
        self.wanted, self.results, self.before = wanted, results, before
        self.build, self.runs = Build(todo), Runs(OWN, wanted.limit)
        self.tests = dict(tests_by_room(sorted({room_of(m.file) for m in todo})))
        self.counts, self.lock, self.free = collections.Counter(), threading.Lock(), list(range(wanted.jobs))

    def take(self, m):
        r = self.results.of(m)
        if r is None or (self.wanted.again and r["verdict"] == "survived"):
            if self.wanted.list:
                return
            with self.lock:
                place = self.free.pop()
            since = time.time()
            try:
                tests = tests_for(m, self.tests, self.results, self.runs)
                verdict, by = judge(self.build, m, OWN / f"job{place}", tests, self.runs)
            finally:
                with self.lock:
                    self.free.append(place)
            r = self.results.add(m, verdict, by, time.time() - since)
        with self.lock:
            self.counts[r["verdict"]] += 1
            if r["verdict"] == "survived":
                noticed = self.before.get(m.id, {}).get("by")
                print(f"survived{f', which {noticed} noticed before' if noticed else ''}: {m.shown()}", flush=True)


def main():
    wanted = options()
    if wanted.only:
        wanted.only = os.path.abspath(wanted.only)
    os.chdir(TOP)
    OWN.mkdir(parents=True, exist_ok=True)
    alone = (OWN / "lock").open("w")
    try:
        fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"mutants are under way already, in {OWN}")
    explained = Explained(TOP / "tests/mutants/explained.txt")
    all = [m for file in files_of(wanted.paths) for m in mutants_of(file)]
    expected = [m for m in all if explained.reason_for(m)]
    print(f"{len(all)} mutants of {len({m.file for m in all})} files, {len(expected)} of them explained", flush=True)
    todo, before = chosen(wanted, all, explained)
    few = "sample" if wanted.sample else "only" if wanted.only else None
    results = Results(OWN / f"{few or 'results'}.jsonl", wanted.fresh or few)
    if few:
        results.file.unlink(missing_ok=True)

    begin, judging = time.time(), Judging(wanted, todo, results, before)
    with ThreadPoolExecutor(wanted.jobs) as pool:
        for future in [pool.submit(judging.take, m) for m in todo]:
            future.result()
    count = judging.counts
    print(f"{count.total() - count['invalid']} compiled and ran in {time.time() - begin:.0f} s: {count['failed']} failed a test, "
          f"{count['timeout']} hung, {count['survived']} survived unexplained; {count['invalid']} did not compile")
    for text in [] if wanted.paths else explained.unused():
        print(f"explained, but no such mutant: {text}")
    sys.exit(1 if count["survived"] else 0)


if __name__ == "__main__":
    main()
