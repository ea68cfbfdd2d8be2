#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the command grows with the number of ranks: seconds and memory beside what they are to take.

    growth.py COSET [--most-seconds S]

Prints the table of docs/scale.md. Each row is one run; one that takes longer than --most-seconds is ended.
"""
import argparse
import os
import subprocess
import sys
import time

MANY, MOST = 4096, 100_000
EIGHTS = ["--nodes", ",".join(["8"] * 64)]
# What is run, ranks, and the seconds and megabytes that it is to take at most; none: as it comes.
RUNS = [
    (["list"], ["--ranks", 1024], 1024, 5, 500),
    (["list"], ["--ranks", MANY], MANY, 5, 500),
    (["list"], ["--ranks", MOST], MOST, 5, None),
    (["cost"], ["--ranks", 1024], 1024, 5, 500),
    (["cost"], ["--ranks", MANY], MANY, 5, 500),
    (["cost"], ["--ranks", MOST], MOST, 5, None),
    (["why", "allreduce", "8"], EIGHTS, 512, 1, 500),
    (["why", "allreduce", "8"], ["--nodes", ",".join(["8"] * (MANY // 8))], MANY, 5, 500),
    (["why", "allreduce", "1M"], ["--nodes", ",".join(["64"] * (MANY // 64))], MANY, 5, 500),
    (["why", "allreduce", "8"], ["--nodes", ",".join(["100"] * (MOST // 100))], MOST, 1, None),
    (["why", "allreduce", "8"], ["--hosts", ",".join(["100"] * (MOST // 100))], MOST, 1, None),
]


def run(command, most_seconds):
    """Seconds, megabytes at the peak, and how it ended."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while time.monotonic() - begin < most_seconds:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid != 0:
                return time.monotonic() - begin, used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)
            time.sleep(0.002)
        child.kill()
        _, _, used = os.wait4(child.pid, 0)
        return time.monotonic() - begin, used.ru_maxrss / 1024, None
    finally:
        child.returncode = 0  # it has been waited for


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("coset")
    parser.add_argument("--most-seconds", type=float, default=60)
    asked = parser.parse_args()
    print("| command | ranks | seconds | MB | at most | met |")
    print("|---|---|---|---|---|---|")
    missed = 0
    for what, arguments, ranks, seconds, megabytes in RUNS:
        took, used, ended = run([asked.coset, *what, *map(str, arguments)], asked.most_seconds)
        met = ended in (0, 2) and took <= seconds and (megabytes is None or used <= megabytes)
        missed += not met
        limit = f"{seconds} s" + (f", {megabytes} MB" if megabytes else "")
        shown = {0: "", 2: " (refused)", None: " (ended)"}.get(ended, f" (exit {ended})")
        how = next((a for a in arguments if a in ("--nodes", "--hosts")), "")
        print(f"| `{' '.join(['coset', *what, *([how] if how else [])])}` | {ranks:,} | {took:.2f}{shown} | {used:.0f} | {limit} | "
              f"{'yes' if met else 'no'} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
