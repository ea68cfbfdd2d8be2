#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Thousands of ranks: figures follow from those of few, in little memory, and what is not counted is named.

    growth_test.py COSET [unittest's arguments]
"""
import os
import pty
import resource
import signal
import subprocess
import unittest
from fractions import Fraction

from command import COSET, SMALL, coset

MEGABYTE = 1 << 20
NOT_COUNTED = "?"


def in_memory(megabytes, *arguments):
    """The command where it gets no more address space than that."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * MEGABYTE, megabytes * MEGABYTE))
    return subprocess.run([COSET, *map(str, arguments)], capture_output=True, text=True, timeout=300, preexec_fn=limit)


def rows(text):
    """By name: steps, received, combined, peers, bits, order."""
    lines = (line.split() for line in text.splitlines()[1:])
    return {line[0]: line[1:7] for line in lines if line and line[0].islower()}


def log(ranks):
    return (ranks - 1).bit_length()


def closed(ranks):
    """Of algorithms that have these figures on an even number of ranks."""
    others = Fraction(ranks - 1, ranks)
    spread = {"direct": 2, "product": 4, "generalized": 2 * log(ranks), "circulant": 2 * log(ranks), "bruck": 2 * log(ranks),
              "dilated": 2 * log(ranks), "swing": 2 * log(ranks), "ring": 2 * (ranks - 1), "naive": 2 * (ranks - 1)}
    return {name: (str(steps), str(2 * others), str(others)) for name, steps in spread.items()}


class Growth(unittest.TestCase):
    def test_figures_of_many_ranks_are_those_that_few_have(self):
        for ranks in (6, 12, 40, 4096, *([] if SMALL else [100_000])):
            found = rows(in_memory(500, "list", "--ranks", ranks).stdout)
            for name, figures in closed(ranks).items():
                self.assertEqual(tuple(found[name][:3]), figures, f"{name} on {ranks}")
                self.assertEqual(found[name][4], "same", f"{name} on {ranks}")

    def test_all_else_is_counted_or_named_with_the_reason(self):
        few, many = (coset("list", "--ranks", ranks).stdout for ranks in (40, 4096))
        self.assertNotIn("not counted", few)
        self.assertNotIn(NOT_COUNTED, [row[0] for row in rows(few).values()])
        uncounted = [name for name, row in rows(many).items() if row[0] == NOT_COUNTED]
        self.assertIn("?: not counted, as these are written out for all ranks", many)
        self.assertTrue(set(uncounted) <= {"elimination_3_2", "unequal", "flexreduce", "tree_ring"}, uncounted)
        self.assertEqual(set(rows(few)), set(rows(many)))

    def test_prices_of_many_ranks_need_little_memory(self):
        found = in_memory(500, "cost", "--ranks", 4096)
        self.assertEqual(found.returncode, 0, found.stderr)
        line = next(line for line in found.stdout.splitlines() if line.endswith("  generalized(radix=2,saved_steps=0)"))
        cells = line.split()  # time, ratio, steps, what the time is spent on in three parts, received, combined
        self.assertEqual((cells[2], cells[6:8]), ("24", ["4095/2048", "4095/4096"]))
        self.assertIn("not counted, as they would be written out for all of 4096 ranks: ", found.stderr)
        self.assertIn("elimination_3_2", found.stderr)

    def test_why_answers_for_many_ranks_on_nodes(self):
        found = in_memory(500, "why", "allreduce", 8, "--nodes", ",".join(["8"] * 512))
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assertIn("that would be written out for so many ranks: not counted", found.stdout)
        self.assertRegex(found.stdout, r"(?m)^> .*product\(")

    def test_progress_is_a_line_on_terminals_that_an_interrupt_erases(self):
        mine, its = pty.openpty()
        child = subprocess.Popen([COSET, "list", "--ranks", "1000"], stdout=subprocess.DEVNULL, stderr=its)
        os.close(its)
        seen = b""
        while b" of " not in seen:
            seen += os.read(mine, 1000)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(60), -signal.SIGINT)
        os.set_blocking(mine, False)
        try:
            seen += os.read(mine, 100_000)
        except OSError:  # there is no more
            pass
        self.assertTrue(seen.endswith(b"\r\x1b[K"), seen)
        self.assertEqual(coset("list", "--ranks", 500).stderr, "")


if __name__ == "__main__":
    unittest.main()
