#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What src/runtime/failure/coset.py says of a process and of its core file is what coset::dump() says, but for the times.

usage: gdb_test.py SCRIPT PROGRAM      exit status 77 where there is no gdb, or none that may start a program
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

script, program = sys.argv[1], sys.argv[2]
if shutil.which("gdb") is None:
    print("skipped: there is no gdb")
    sys.exit(77)


def gdb(*commands):
    run = subprocess.run(["gdb", "-nx", "-batch"] + [word for c in commands for word in ("-ex", c)], text=True,
                         capture_output=True, timeout=100)
    return run.stdout + run.stderr


def told(text):
    """Of each account the lines, sorted, without times."""
    lines = [re.sub(r"waited \d+(\.\d)? s", "waited", line) for line in text.splitlines() if line.startswith("coset:")]
    return lines


with tempfile.TemporaryDirectory() as folder:
    core = pathlib.Path(folder) / "core"
    live = gdb("set confirm off", f"file {program}", "run", f"source {script}", "coset-teams", f"generate-core-file {core}")
    if "ptrace" in live or "Could not trace" in live:
        print("skipped: gdb may not start a program here\n" + live)
        sys.exit(77)
    dead = gdb(f"file {program}", f"core-file {core}", f"source {script}", "coset-teams")

both = told(live)
own, by_gdb = both[:len(both) // 2], both[len(both) // 2:]
wanted = ["a team of 3 ranks", "rank 0 has waited for rank", "rank 1 has waited for its rank 1 to begin operation 1, barrier",
          "in another team, of 2 ranks", "rank 2 is in no wait of coset's"]
wrong = [f"no '{words}'" for words in wanted if not any(words in line for line in own)]
if own != by_gdb:
    wrong.append("gdb says otherwise of the process")
if told(dead) != own:
    wrong.append("gdb says otherwise of the core file")
if wrong:
    sys.exit("\n".join(wrong) + "\n---- of the process\n" + live + "\n---- of the core file\n" + dead)
