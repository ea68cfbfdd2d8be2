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
import snippets

MAIN = """
#include <cstdio>
#include <vector>
int main() {
  std::vector<double> bins(8), weight(1000, 0.5);
  std::vector<int> key(1000);
  for (int i = 0; i < 1000; ++i) key[i] = i % 8;
  histogram(bins.data(), bins.size(), key.data(), weight.data(), 1000);
  std::printf("bins[0] = %g\\n", bins[0]);
  return bins[0] == 62.5 ? 0 : 1;
}
"""
OWN_TYPE = """
int main() {
  coset::team team;
  team.run([&](coset::member& me) {
    std::vector<double> in{1.0 + me.rank(), 2.0 + me.rank()}, out(2);
    on_each_rank(team, me, in, out);
  });
}
"""
HULL = """
if (all.low != 1 || all.high != 1 + me.size()) throw std::runtime_error("not the hull of all ranks");
if (me.rank() == 0) std::printf("from %g to %g\\n", all.low, all.high);
}
"""
HYBRID_MAIN = """
#include <mpi.h>
int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  statements();
  MPI_Finalize();
}
"""
PROJECT = "cmake_minimum_required(VERSION 3.25)\nproject(app LANGUAGES C CXX)\n"


def block(path, after):
    """The first block of a document behind these words."""
    text = (markdown.ROOT / path).read_text(encoding="utf-8")
    line = text[: text.index(after)].count("\n") + 1
    return next(b for b in markdown.blocks(text) if b.line > line)


def program(path, after):
    """The same as a whole file, with what is around it."""
    wanted = f"{path}:{block(path, after).line}"
    return next(s.code for s in snippets.snippets() if s.where == wanted)


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
        done = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "bash", "-c",
             'mount -t proc proc "$0/proc"; mount --rbind /sys "$0/sys"; mount --rbind /dev "$0/dev"; exec chroot "$0" '
             "/usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "
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


def install(at):
    at.title("Install and link")
    commands = block("README.md", "**Install**").text.replace("sudo ", "").replace(" install ", " install -q -y ", 1)
    at.run("apt-get update -q", shown=1)
    for command in commands.strip().splitlines():
        at.run(command, "/srv/coset", shown=1)


def own_projects(at):
    at.title("The README's program in a project of one's own")
    twenty = block("README.md", "## Twenty lines").text
    for name, way, after in (("found", "find_package", "**Link**"), ("fetched", "FetchContent", "or, without installing")):
        at.write(f"{name}/main.cpp", twenty)
        lists = PROJECT + "add_executable(app main.cpp)\n" + block("README.md", after).text
        at.write(f"{name}/CMakeLists.txt", lists.replace("/path/to/coset", "/srv/coset"))
        at.say(f"By {way}, main.cpp being the program, and CMakeLists.txt the lines of the README behind `add_executable(app main.cpp)`:")
        at.run("cmake -B build -G Ninja -DCMAKE_BUILD_TYPE=Release", f"/srv/{name}", shown=1)
        at.run("cmake --build build", f"/srv/{name}", shown=1)
        at.run("build/app", f"/srv/{name}")
    at.say("By pkg-config:")
    at.run("g++ -std=c++20 -O2 main.cpp -o app $(pkg-config --cflags --libs coset)", "/srv/found")
    at.run("./app", "/srv/found")


def loops(at):
    at.title("An OpenMP loop converted")
    at.say("The README's two loops, each in a program that counts; the first is OpenMP's own way:")
    before, after = program("README.md", "![A clause adds").split("coset::omp::reduction sum")
    head, tail = before[: before.index("#line")], "}\n"
    at.write("loop/before.cpp", before + tail + MAIN)
    at.write("loop/after.cpp", head + "coset::omp::reduction sum" + after + MAIN)
    for name in ("before", "after"):
        at.run(f"g++ -std=c++20 -O2 -fopenmp {name}.cpp -o {name} $(pkg-config --cflags --libs coset)", "/srv/loop")
        at.run(f"./{name}", "/srv/loop")
    at.title("An operation and a struct of one's own")
    at.say("The lines of the [reference](../reference.md), in a team's `run()`:")
    code = program("docs/reference.md", "An operation and a struct")
    at.write("own/main.cpp", "#include <cstdio>\n#include <stdexcept>\n" + code.rstrip().removesuffix("}") + HULL + OWN_TYPE)
    at.run("g++ -std=c++20 -O2 main.cpp -o app $(pkg-config --cflags --libs coset)", "/srv/own")
    at.run("./app", "/srv/own")


def hybrid(at):
    at.title("MPI and threads")
    at.say("As [MPI and threads](mpi.md) says, whose lines with a team of threads of its own are the program:")
    at.run("apt-get install -q -y libopenmpi-dev openmpi-bin", shown=1)
    at.run("cmake -B build/app -DCOSET_MPI=openmpi && cmake --build build/app && cmake --install build/app && ldconfig", "/srv/coset", shown=1)
    at.write("hybrid/main.cpp", program("docs/start/mpi.md", "A team with threads of its own") + HYBRID_MAIN)
    at.run("g++ -std=c++20 -O2 -fopenmp main.cpp -o app $(pkg-config --cflags --libs coset-openmpi)", "/srv/hybrid")
    at.run("mpirun --allow-run-as-root --oversubscribe -n 2 --bind-to none ./app", "/srv/hybrid")


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
        print("All commands and programs are those of the README and of the pages that it leads to, carried out by "
              "`tests/documents/first_hour.py`, which wrote this page: in a root that mmdebstrap makes with nothing but Debian's "
              f"minimum, as root (hence no `sudo`, and `--allow-run-as-root`), on {os.cpu_count()} cores. Times include what apt "
              "fetches. Long output is cut to its end.")
        at = Transcript(root)
        install(at)
        own_projects(at)
        loops(at)
        hybrid(at)
        at.root = fresh  # where nothing is installed yet
        the_two_commands(at, asked.tests)
        at.table()


if __name__ == "__main__":
    sys.exit(main())
