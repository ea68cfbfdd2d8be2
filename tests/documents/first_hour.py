#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a stranger does in the first hour, on a bare Debian 12 that mmdebstrap makes: the commands and programs of the documents
as they stand, each on the first try. Prints the transcript with times, docs/start/first_hour.md.

usage: first_hour.py [--tests] [--keep FOLDER] >TRANSCRIPT        as root

--tests runs `./dev test`, too, which takes some ten minutes. --keep names the root, which is left there, and beside it
ROOT-fresh for the two commands. The exit status is that of the first command that fails.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import markdown
import start

# Each page has the first program of one kind of user.
PAGES = {"openmp": "OpenMP", "onetbb": "oneTBB", "threads": "std::thread", "mpi": "MPI + OpenMP", "c": "C", "fortran": "Fortran",
         "python": "Python", "cmake": "A CMake project, by find_package and with coset as a part of it"}


def block(path, after):
    """The first block of a document behind these words."""
    text = (markdown.ROOT / path).read_text(encoding="utf-8")
    line = text[: text.index(after)].count("\n") + 1
    return next(b for b in markdown.blocks(text) if b.line > line)


class Transcript:
    """Carries out commands in the root, and prints them, what they say, and how long they take."""

    def __init__(self, root):
        self.root, self.rows = root, []

    def title(self, words):
        print(f"\n## {words}\n", flush=True)
        self.rows.append([words, 0.0])

    def say(self, words):
        print(words + "\n", flush=True)

    def write(self, name, content):
        path = self.root / "srv" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    def run(self, command, folder="/srv", shown=6):
        """`shown`: the last lines of what it says that are printed."""
        begin = time.monotonic()
        as_root = " ".join(f"{name}={value}" for name, value in start.AS_ROOT.items())
        done = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "bash", "-c",
             'mount -t proc proc "$0/proc"; mount --rbind /sys "$0/sys"; mount --rbind /dev "$0/dev"; exec chroot "$0" '
             f"/usr/bin/env -i {as_root} HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "
             'DEBIAN_FRONTEND=noninteractive bash -c "cd $1 && $2"', str(self.root), folder, command],
            check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        took = time.monotonic() - begin
        self.rows[-1][1] += took
        lines = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout).splitlines()
        if done.returncode != 0:
            print(done.stdout, file=sys.stderr)
            print(f"{command}: {done.returncode}", file=sys.stderr)
            sys.exit(done.returncode)
        cut = ["…"] if len(lines) > shown else []
        print("\n".join(["```", f"$ {command}", *cut, *lines[len(lines) - min(shown, len(lines)):], "```"]))
        print(f"\n{took:.0f} s\n" if took >= 1 else "", flush=True)
        return done.stdout

    def table(self):
        print("\n## Times\n\n| | seconds |\n|---|---|")
        for words, took in self.rows:
            print(f"| {words} | {took:.0f} |")


def bare(root):
    sources = [p for p in (pathlib.Path("/etc/apt/sources.list"), *pathlib.Path("/etc/apt/sources.list.d").glob("*.sources"))
               if p.exists() and p.stat().st_size > 0]
    subprocess.run(["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "bookworm", root, *map(str, sources)], check=True,
                   stdout=sys.stderr)
    copy = root / "srv/coset"
    copy.mkdir()
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=markdown.ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "--create", "--null", "--files-from=-", "--file", copy / "all.tar"], cwd=markdown.ROOT, input=listed,
                   check=True)
    subprocess.run(["tar", "xf", "all.tar"], cwd=copy, check=True)
    (copy / "all.tar").unlink()


def without_questions(commands):
    """As root, where apt asks nobody."""
    return re.sub(r"(apt(?:-get)?) install ", r"\1 install -q -y ", commands.replace("sudo ", ""))


def install(at):
    at.title("Install")
    at.run(block("README.md", "## Install").text.split("#")[0].strip(), "/srv/coset", shown=3)


def first_programs(at):
    """What the pages say, in their order; what programs print has to be what the pages say."""
    for page, words in PAGES.items():
        at.title(words)
        at.say(f"From [{page}.md]({page}.md):")
        said = ""
        for kind, name, text in start.steps(page, minutes=True):
            if kind == "file":
                at.write(f"{page}/{name}", text.replace("/path/to/coset", "/srv/coset"))
            elif kind == "prints":
                if not start.matches(text, said):
                    sys.exit(f"docs/start/{page}.md says\n{text}but its commands print\n{said}")
            else:
                folder = "/srv/coset" if kind in ("packages", "coset") else f"/srv/{page}"
                said = "".join(at.run(command, folder, shown=1 if folder == "/srv/coset" else 6)
                               for command in without_questions(text).strip().splitlines())


def the_two_commands(at, tests):
    at.title("`./dev run`, up to its first figure")
    said = at.run("./dev run", "/srv/coset", shown=40)
    first = re.search(r"this machine \(after (\d+) s\)", said)
    whole, at.rows[-1][1] = at.rows[-1][1], float(first[1]) if first else 0.0
    at.rows.append(["`./dev run`, whole", whole])
    if tests:
        at.title("`./dev test`")
        at.run("./dev test", "/srv/coset", shown=12)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--keep")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("XDG_CACHE_HOME"), ignore_cleanup_errors=True) as temporary:
        root = pathlib.Path(asked.keep or temporary + "/root")
        fresh = root.with_name(root.name + "-fresh")
        if fresh.exists():
            sys.exit(f"{fresh} is there already")
        bare(root)
        subprocess.run(["cp", "-a", root, fresh], check=True)
        print("# The first hour on a bare Debian 12\n")
        print("All commands and programs are those of the README and of its start pages, carried out by "
              "`tests/documents/first_hour.py`, which wrote this page: in a root that mmdebstrap makes with nothing but Debian's "
              f"minimum, as root (hence no `sudo`; variables allow `mpirun` to run as root, and more processes than cores), on {os.cpu_count()} cores. Times include what apt "
              "fetches. Long output is cut to its end.")
        at = Transcript(root)
        install(at)
        first_programs(at)
        at.root = fresh  # where nothing is installed yet
        the_two_commands(at, asked.tests)
        at.table()


if __name__ == "__main__":
    sys.exit(main())
