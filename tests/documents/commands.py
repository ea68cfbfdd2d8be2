#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command line of the documents works. Those are the lines of blocks of the language sh, of indented blocks whose lines
begin like one, and the words in `…` that do. A block after a comment, <!-- fragment: why -->, is left out.

usage: commands.py BUILD COSET

BUILD is a build of the library with its tests, COSET the command. A `coset …` line of a block is carried out, those of a document
one after the other in a folder of its own, with less to measure than it asks for; within words, every option has to be in its
command's help. Of `./dev`, CMake, ctest, apt-get, pkg-config and scripts, what they are given has to exist: verbs, options,
targets, presets, tests, packages.
"""
import collections
import concurrent.futures
import functools
import glob
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import markdown

ROOT = markdown.ROOT
# Who measures is asked for one small size, once, unless the line itself says how much.
CHEAPER = {"bench": {"--sizes": "64", "--rounds": "1", "--iterations": "10"}, "trace": {"--iterations": "10"}}
SAME = {"-n": "--iterations", "-b": "--sizes", "--min-bytes": "--sizes"}
# Of what takes seconds in any case only the options are looked at.
LONG = ("tune", "bench --scaling", "bench --regimes", "bench --regret", "bench --guidelines", "bench --mpi", "search --bytes", "search --topology", "simulate")
LAUNCHERS = {"mpirun", "mpiexec"}
# Of these only what is handed to them by $(…) can be wrong, as far as this test knows; a program is any.
OTHERS = {"g++", "gcc", "gfortran", "mpicxx", "mpicc", "mpifort", "mpif90", "clang++", "cd", "git", "ldconfig", "python3", "./app",
          "program"}
PREFIX = r"(?:[A-Z_]+=\S+ )*(?:sudo )?"
KNOWN = r"coset|\./dev|cmake|ctest|apt-get|pkg-config|\.ci/(?:run|costs)|(?:tests|bench|build)/\S+"
IN_WORDS = re.compile(f"{PREFIX}(?:{KNOWN}) ")
IN_BLOCKS = re.compile(f"{PREFIX}(?:{KNOWN}|{'|'.join(map(re.escape, sorted(LAUNCHERS | OTHERS)))}) ")
# What the documents' lines read.
MADE = {"mine.json": "plan --plan direct --ranks 7 --json", "allreduce.xml": "generate msccl direct --ranks 4", "t.json": "trace -n 10 -o t.json",
        "t.*.json": "trace -n 10 -o t.0.json",
        "scaling.json": "bench allreduce 64K --scaling --rounds 1 -n 1 --json scaling.json"}
WRITTEN = {"switches.json": '{"tree": {"core": ["left", "right"], "left": [0, 1], "right": [2, 3]}}', "torus.json": '{"torus": [2, 2]}',
           "machine.xml": (ROOT / "tests/numa/odd.xml").read_text(encoding="utf-8")}

Line = collections.namedtuple("Line", "where words is_carried_out")


def lines_of(path):
    """The command lines of a document; raises ValueError for a block of commands that is not marked as one."""
    text, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT)
    for kind, block in [("fenced", b) for b in markdown.blocks(text)] + [("indented", b) for b in markdown.indented_blocks(text)]:
        if block.language not in ("", "sh") or block.marker.startswith("fragment: "):
            continue
        for line in re.sub(r" *\\\n *", " ", block.text).splitlines():
            begins_like_one = IN_BLOCKS.match(line + " ")
            if begins_like_one and kind == "fenced" and block.language == "":
                raise ValueError(f"{name}:{block.line}: a block of commands is one of sh, or follows a <!-- fragment: why -->")
            if begins_like_one or (block.language == "sh" and not re.match(r"\s*(#|$)", line)):
                yield Line(f"{name}:{block.line}", line.strip(), True)
    outside = "\n".join(markdown.outside_blocks(text))
    for span in re.finditer(r"`([^`]+)`", outside):
        words = re.sub(r"\s+", " ", span[1])
        if IN_WORDS.match(words):
            yield Line(f"{name}:{outside.count(chr(10), 0, span.start()) + 1}", words, False)


def commands_of(words):
    """The simple commands of a line, as (words, file for the output); $(…) is one of its own."""
    lexer = shlex.shlex(re.sub(r"\$\([^()]*\)", "SUBSTITUTED", words), posix=True, punctuation_chars=True)
    lexer.commenters, lexer.whitespace_split = "#", True
    command, output, redirected = [], None, False
    for word in lexer:
        if word and set(word) <= set("&|;()"):
            yield command, output
            command, output = [], None
        elif word and set(word) <= set("<>"):
            redirected = True
        elif redirected:
            output, redirected = word, False
        else:
            command.append(word)
    yield command, output
    for inner in re.findall(r"\$\(([^()]*)\)", words):
        yield from commands_of(inner)


class Checker:
    def __init__(self, build, coset):
        self.build, self.coset = build, coset
        self.parts = subprocess.run([ROOT / ".ci/run", "--parts"], check=True, capture_output=True, text=True).stdout.split()
        self.packages = set(re.findall(r"[\w.+-]+", (ROOT / "dev").read_text(encoding="utf-8")))
        presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
        self.presets = {p["name"] for p in presets["configurePresets"]}
        self.test_presets = {p["name"] for p in presets["testPresets"]}
        listed = [ROOT / "CMakeLists.txt", *ROOT.glob("cmake/*.cmake")]
        listed += [p for room in ("src", "bench", "tests", "examples", "numa") for p in (ROOT / room).rglob("CMakeLists.txt")]
        self.names = set(re.findall(r"[\w-]+", "\n".join(p.read_text(encoding="utf-8") for p in listed)))

    def document(self, lines):
        """What is wrong with these lines, of one document."""
        with tempfile.TemporaryDirectory() as folder:
            try:
                self.prepare(pathlib.Path(folder), lines)
            except subprocess.CalledProcessError as failed:
                return [f"{lines[0].where}: {' '.join(failed.cmd)}: {failed.stderr}"]
            return [f"{line.where}: {line.words}: {said}" for line in lines for said in [self.line(line, folder)] if said]

    def prepare(self, folder, lines):
        words = " ".join(line.words for line in lines if line.is_carried_out)
        for name, content in WRITTEN.items():
            (folder / name).write_text(content, encoding="utf-8")
        for name, made_by in MADE.items():
            if name in words:
                done = subprocess.run([self.coset, *made_by.split()], cwd=folder, check=True, capture_output=True, text=True)
                if not list(folder.glob(name)):
                    (folder / name).write_text(done.stdout, encoding="utf-8")

    def line(self, line, folder):
        try:
            commands = list(commands_of(line.words))
        except ValueError as unreadable:
            return f"is no command line: {unreadable}"
        for command, output in commands:
            environment = dict(itertools.takewhile(lambda pair: pair[1], (word.partition("=")[::2] for word in command)))
            command = [word for word in command[len(environment):] if word != "sudo"]
            if command:
                said = self.command(command, line.is_carried_out and (folder, environment, output))
                if said:
                    return said
        return None

    def command(self, command, carrying_out):
        name = command[0]
        if pathlib.Path(name).name == "coset":
            return self.of_coset(command[1:], carrying_out)
        if name in LAUNCHERS:
            return self.of_coset(command[command.index("coset") + 1:], None) if "coset" in command else None
        judge = {"./dev": self.of_dev, ".ci/run": self.of_ci, "cmake": self.of_cmake, "ctest": self.of_ctest, "apt-get": self.of_apt,
                 "pkg-config": self.of_pkg_config}.get(name)
        if judge:
            return judge(command[1:])
        return None if name in OTHERS else self.of_program(command)

    @functools.cache
    def help(self, *verb):
        return subprocess.run([self.coset, *verb, "--help"], check=False, capture_output=True, text=True)

    def of_coset(self, words, carrying_out):
        words = [word for word in words if word != "…"]
        if not words or words[0].isupper() or words[0].startswith("-"):
            return None
        shown = self.help(words[0])
        if shown.returncode != 0:
            return f"coset has no command {words[0]}"
        if "Subcommands:" in shown.stdout and words[1:2] and words[1].islower():
            shown = self.help(*words[:2])
        options = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", shown.stdout))
        for word in words[1:]:
            option = word.partition("=")[0]
            if re.match("-[A-Za-z-]", option) and option not in options:
                return f"coset {words[0]} has no option {option}"
        is_long = any(set(long.split()) <= set(words) for long in LONG)
        return self.carried_out(words, *carrying_out) if carrying_out and not is_long else None

    def carried_out(self, words, folder, environment, output):
        given = {SAME.get(word, word) for word in words}
        if given & {"--summary", "--merge"}:
            given |= {"--iterations"}  # of a trace that is there
        more = [w for option, value in CHEAPER.get(words[0], {}).items() if option not in given for w in (option, value)]
        files = [name for word in words for name in (sorted(glob.glob(word, root_dir=folder)) if "*." in word else [word])]
        done = subprocess.run([self.coset, *files, *more], cwd=folder, check=False, capture_output=True, text=True, timeout=300,
                              env=os.environ | {"COSET_TUNING": "off"} | environment)
        if output:
            (pathlib.Path(folder) / output).write_text(done.stdout, encoding="utf-8")
        if done.returncode == 0 or ("gnuplot" in done.stderr and shutil.which("gnuplot") is None):
            return None
        return f"ends with status {done.returncode}: {done.stderr.strip()}"

    @functools.cache
    def dev_help(self, command):
        return subprocess.run([ROOT / "dev", "help", command], check=False, capture_output=True, text=True)

    def of_dev(self, words):
        """What ./dev help says of a command names its options. Other words of test are rooms."""
        if not words or words[0].startswith("-") or words[-1].isupper() and words[0] == "help":
            return None
        command = words[-1] if words[0] == "help" else words[0]
        shown = self.dev_help(command)
        if shown.returncode != 0:
            return f"./dev has no command {command}"
        options = [w for w in words if w.startswith("--")]
        unknown = [w for w in options if not re.search(rf"(?<![\w-]){w}(?![\w-])", shown.stdout)]
        if unknown:
            return f"./dev {command} does not say that it takes {unknown[0]}"
        rooms = [w for w in words[1:] if w.islower()] if command == "test" and not options else []
        unknown = [room for room in rooms if not any((ROOT / folder / room).is_dir() for folder in ("tests", "src"))]
        return f"there is no room {unknown[0]}" if unknown else None

    def of_ci(self, words):
        unknown = [word for word in words if word.islower() and word not in ["--help", "--parts", *self.parts]]
        return f".ci/run has no part {unknown[0]}" if unknown else None

    def of_cmake(self, words):
        option, known = None, {"--target": self.names, "--component": self.names, "--preset": self.presets}
        for word in words:
            variable = re.match(r"-D(COSET_\w+)", word)
            if variable and variable[1] not in self.names:
                return f"no option {variable[1]}"
            if word.startswith("-"):
                option = option if variable else word
            elif option in known and word not in known[option]:
                return f"no {option[2:]} {word}"
        return None

    def of_ctest(self, words):
        if "--preset" in words:
            preset = words[words.index("--preset") + 1]
            return None if preset in self.test_presets else f"no preset {preset}"
        wanted = words[words.index("-R") + 1] if "-R" in words else ""
        shown = subprocess.run(["ctest", "--test-dir", self.build, "-N", "-C", "long", "-R", wanted], check=True, capture_output=True,
                               text=True).stdout
        return f"no test is called like {wanted}" if "Total Tests: 0" in shown else None

    def of_apt(self, words):
        unknown = [w for w in words[1:] if not w.startswith("-") and w not in self.packages]
        return f"./dev knows no package {unknown[0]}" if unknown else None

    def of_pkg_config(self, words):
        unknown = [w for w in words if w.startswith("coset") and not (self.build / f"{w}.pc").exists()
                   and not re.fullmatch(r"coset-(openmpi|mpich)(-fortran)?", w)]
        return f"no {unknown[0]}.pc" if unknown else None

    def of_program(self, command):
        """A script of this repository, which knows its options, or what a target makes."""
        for folder in (".", "bench", "tests"):
            script = ROOT / folder / command[0]
            if script.is_file() and not command[0].startswith("build/"):
                known = script.read_text(encoding="utf-8")
                own = itertools.takewhile(lambda word: not word.startswith("build/"), command[1:])  # the rest is who it starts
                unknown = [word for word in own if word.startswith("--") and word.partition("=")[0] not in known]
                return f"{command[0]} does not know {unknown[0]}" if unknown else None
        made = pathlib.Path(command[0]).name in self.names
        return None if made else f"what is {command[0]}? What this test cannot judge follows a <!-- fragment: why -->"


def main():
    checker = Checker(pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve()))
    try:
        # The transcript of the first hour is what such lines have said.
        documents = [list(lines_of(path)) for path in markdown.files() if path.name != "first_hour.md"]
    except ValueError as unmarked:
        print(unmarked)
        return 1
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        wrong = list(itertools.chain(*pool.map(checker.document, documents)))
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"{sum(map(len, documents))} command lines, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
