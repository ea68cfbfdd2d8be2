#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes the library one statement at a time, and looks whether its tests notice. See README.md."""
import argparse
import ctypes
import fcntl
import hashlib
import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from changes import changes_of
from explained import Explained

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

# Of each room the tests that cover it: first those that find most in the least time. All of them at small effort.
TESTS = {
    "src/program": ["program_bind_test", "program_sequences_test", "program_teeth_test", "runtime_executor_test",
                    "team_task_run_test", "program_choices_test", "program_every_algorithm_test", "runtime_messages_test"],
    "src/plan": ["plan_parts_test", "plan_cache_test", "api_calls_test", "team_plans_test", "team_passed_over_test",
                 "runtime_executor_test", "runtime_mismatch_test", "team_lifetimes_test", "team_nodes_test",
                 "runtime_messages_test", "team_bounds_test", "team_verbs_test"],
    "src/reducer": ["reducer_core_test", "reducer_copies_test", "reducer_memory_test", "reducer_threads_test",
                    "reducer_reducer_test", "reducer_omp_test"],
    "src/api": OF_RANKS_AT_WORK + ["team_passed_over_test"],
    "src/runtime": OF_RANKS_AT_WORK,
    "src/team": OF_RANKS_AT_WORK + ["team_limits_test", "team_confined_test"],
}
# Those that are changed only where they are named.
TESTS_IF_NAMED = {
    "src/schedule": ["schedule_own_chains_test", "schedule_search_test", "schedule_group_test", "schedule_fold_test",
                     "schedule_every_algorithm_test", "schedule_two_level_test", "schedule_pipelined_test", "program_parts_test",
                     "choice_test"],
}
# What a test asks of its environment, as its CMakeLists.txt has it.
ENVIRONMENTS = {"team_confined_test": {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}}
LEFT_OUT = TOP / "src/api/c"  # no decisions of its own
MOST_MEMORY = 8 << 30
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)


def sources_of(folder):
    return sorted(f for f in folder.rglob("*") if f.suffix in (".cpp", ".hpp") and LEFT_OUT not in f.parents)


def room_of(file):
    return "/".join(file.split("/")[:2])


class Mutant:
    def __init__(self, file, text, change, nth):
        self.file, self.change = file, change
        self.text = change.of(text)
        self.of_text = hashlib.sha1(text.encode()).hexdigest()[:12]
        # Told apart by what stands there, so that lines may move; nth of those that look alike.
        self.id = f"{file} | {change.before} | {change.after}" + (f" | {nth}" if nth > 1 else "")

    def shown(self):
        return f"{self.file}:{self.change.line}\n  - {self.change.before}\n  + {self.change.after}"


def mutants_of(file):
    text = (TOP / file).read_text()
    seen = {}
    for change in changes_of(text):
        nth = seen[change.before, change.after] = seen.get((change.before, change.after), 0) + 1
        yield Mutant(file, text, change, nth)


class Build:
    """The commands that made build/release: one file is compiled anew, and tests are linked with it before the library."""

    def __init__(self):
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
        more = [f"-I{overlay}"] if overlay else ["-include", str(self.headers(source))]
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

    def link(self, test, objects, to):
        with self.lock:
            if test not in self.links:
                said = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", test], capture_output=True, text=True, check=True)
                last = said.stdout.strip().splitlines()[-1]
                self.links[test] = shlex.split(last.split("&&")[1])
        command = list(self.links[test])
        command[command.index("-o") + 1] = str(to)
        command[1:1] = [str(o) for o in objects]
        subprocess.run(command + ["-lfmt"], cwd=BUILD, check=True)

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


def run_test(binary, limit, more=None):
    """passed, failed, or timeout: for ever, or at least far longer than without the change."""

    def bounded():
        os.setsid()
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # whoever ends this script leaves no test behind that hangs
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))

    environment = dict(os.environ, COSET_TEST_EFFORT="small", COSET_TUNING="off", OMP_NUM_THREADS="2", **(more or {}))
    process = subprocess.Popen([binary, "--gtest_brief=1", "--gtest_fail_fast"], cwd=OWN, env=environment, preexec_fn=bounded,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return "passed" if process.wait(limit) == 0 else "failed"
    except subprocess.TimeoutExpired:
        return "timeout"
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


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


def judge(build, mutant, place, tests, limit):
    """Which test notices, and how; "survived" where none does, "invalid" where it does not compile."""
    place.mkdir(parents=True, exist_ok=True)
    objects = objects_of(build, mutant, place)
    if not objects:
        return "invalid", ""
    for test in tests:
        binary = place / "test"
        build.link(test, objects, binary)
        how = run_test(binary, limit, ENVIRONMENTS.get(test))
        if how != "passed":
            return how, test
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
    p.add_argument("--sample", type=int, metavar="N", help="only so many, of source files; always the same with the same seed")
    p.add_argument("--seed", default="1", help="of the sample")
    p.add_argument("--jobs", type=int, default=os.cpu_count(), help="at a time")
    p.add_argument("--limit", type=float, default=30, metavar="SECONDS", help="for one test, which else counts as hanging")
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
        yield from (str(f.relative_to(TOP)) for f in (sources_of(there) if there.is_dir() else [there]))


def tests_for(mutant, available, results):
    """Those that noticed most of this file's mutants come first."""
    noticed = {}
    for r in list(results.known.values()):
        if r["by"] and r["id"].startswith(mutant.file + " |"):
            noticed[r["by"]] = noticed.get(r["by"], 0) + 1
    return sorted(available[room_of(mutant.file)], key=lambda test: -noticed.get(test, 0))


def main():
    wanted = options()
    os.chdir(TOP)
    OWN.mkdir(parents=True, exist_ok=True)
    alone = (OWN / "lock").open("w")
    try:
        fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"mutants are under way already, in {OWN}")
    explained = Explained(TOP / "tests/mutants/explained.txt")
    results = Results(OWN / ("sample.jsonl" if wanted.sample else "results.jsonl"), wanted.fresh or bool(wanted.sample))
    if wanted.sample:
        results.file.unlink(missing_ok=True)
    all = [m for file in files_of(wanted.paths) for m in mutants_of(file)]
    expected = [m for m in all if explained.reason_for(m)]
    todo = [m for m in all if not explained.reason_for(m)]
    # In no order, so that what is known whenever it is stopped is a fair sample.
    todo.sort(key=lambda m: hashlib.sha1((wanted.seed + m.id).encode()).digest())
    if wanted.sample:
        todo = [m for m in todo if m.file.endswith(".cpp")][: wanted.sample]
    print(f"{len(all)} mutants of {len({m.file for m in all})} files, {len(expected)} of them explained", flush=True)

    build = Build()
    available = {room: [t for t in tests if next(BUILD.glob(f"tests/*/{t}"), None)] for room, tests in (TESTS | TESTS_IF_NAMED).items()}
    begin, counts, lock, free = time.time(), {}, threading.Lock(), list(range(wanted.jobs))
    survivors = []

    def take(m):
        r = results.of(m)
        if r is None or (wanted.again and r["verdict"] == "survived"):
            if wanted.list:
                return
            with lock:
                place = free.pop()
            since = time.time()
            try:
                verdict, by = judge(build, m, OWN / f"job{place}", tests_for(m, available, results), wanted.limit)
            finally:
                with lock:
                    free.append(place)
            r = results.add(m, verdict, by, time.time() - since)
        with lock:
            counts[r["verdict"]] = counts.get(r["verdict"], 0) + 1
            if r["verdict"] == "survived":
                survivors.append(m)
                print(f"survived: {m.shown()}", flush=True)

    with ThreadPoolExecutor(wanted.jobs) as pool:
        for future in [pool.submit(take, m) for m in todo]:
            future.result()
    count = lambda verdict: counts.get(verdict, 0)
    looked_at = sum(counts.values()) - count("invalid")
    print(f"{looked_at} compiled and ran in {time.time() - begin:.0f} s: {count('failed')} failed a test, {count('timeout')} hung, "
          f"{count('survived')} survived unexplained; {count('invalid')} did not compile")
    for text in [] if wanted.paths else explained.unused():
        print(f"explained, but no such mutant: {text}")
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()
