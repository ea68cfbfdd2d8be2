#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/baseline.py on made-up figures: what counts as slower, and what is kept where.

usage: baseline_test.py FOLDER-OF-BENCH
"""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))
import baseline  # noqa: E402

MACHINE = {"cores": 2, "nodes": [{"os_index": 0}]}


def bench(factor, rounds=11, state="near", spread=0.01, commit="now", one_way=40):
    """Times around 100 ns times this factor; the rivals' stay."""
    def times(around):
        return [around * (1 + spread * ((7 * k) % 5 - 2)) for k in range(rounds)]
    rows = [{"who": who, "family": family, "rounds_ns": times(ns)} for who, family, ns in
            (("coset", "coset", 100 * factor), ("flag round", "reference", 50), ("omp push", "omp", 200), ("flags", "std", 300))]
    return {"verb": "allreduce", "ranks": 2, "timing": "cycle", "date": "2026-01-02T03:04:05Z", "commit": commit, "compiler": "g++",
            "processor": "AMD EPYC (9R14) ", "sizes": [{"size": 64, "type": "float", "op": "sum",
                                                       "states": [{"state": state, "one_way_ns": one_way, "rows": rows}]}]}


class Baseline(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        baseline.FOLDER = self.folder / "baselines"

    def run_it(self, word, *benches):
        """What it prints."""
        files = []
        for number, content in enumerate((MACHINE, *benches)):
            files.append(self.folder / f"{number}.json")
            files[-1].write_text(json.dumps(content), encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            baseline.main([word, *map(str, files)])
        return printed.getvalue()

    def test_cells_are_kept_by_kind_of_machine_one_a_line_and_appended(self):
        self.run_it("append", bench(1))
        self.run_it("append", bench(2, commit="later"))
        file = self.folder / "baselines/amd-epyc-9r14-2-cores-1-node.jsonl"
        cells = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        self.assertEqual([cell["commit"] for cell in cells], ["now", "later"])
        self.assertEqual((cells[0]["size"], cells[0]["state"], len(cells[0]["coset_ns"])), (64, "near", 11))
        self.assertAlmostEqual(cells[0]["rivals_ns"][2], 250, delta=10)

    def test_verdicts_follow_the_interval(self):
        self.run_it("append", bench(1))
        for factor, spread, wanted in ((1.2, 0.001, r"0\.83× \[0\.8.*\] slower"), (1, 0.001, r"1\.00× .* (level|undecided)"),
                                       (0.5, 0.001, r"2\.0.× .* faster"), (1.05, 0.04, "undecided")):
            self.assertRegex(self.run_it("compare", bench(factor, spread=spread)), wanted)

    def test_rounds_of_two_runs_are_no_pairs(self):
        """The same times in another order are no change; in pairs, two of three ratios would be below 1."""
        middle, low, high = baseline.compared([100.0, 200.0, 300.0] * 4, [200.0, 300.0, 100.0] * 4)
        self.assertEqual(middle, 1)
        self.assertTrue(low < 1 < high, (low, high))

    def test_plans_that_were_measured_in_addition_are_no_rivals(self):
        found = bench(1)
        found["sizes"][0]["states"][0]["rows"].append({"who": "direct/zero_copy", "family": "coset", "rounds_ns": [9e9] * 11})
        without, = baseline.cells_of(bench(1))
        self.assertEqual(next(baseline.cells_of(found))["rivals_ns"], without["rivals_ns"])

    def test_few_rounds_decide_nothing(self):
        self.run_it("append", bench(1))
        self.assertIn("undecided", self.run_it("compare", bench(9, rounds=5)))

    def test_the_rivals_stand_beside_it_and_the_last_line_of_a_cell_counts(self):
        self.run_it("append", bench(5, commit="older"))
        self.run_it("append", bench(1, commit="newer"))
        shown = self.run_it("compare", bench(1))
        self.assertRegex(shown, r"1\.00×.*; its rivals 1\.00×; since 2026-01-02, newer")

    def test_another_state_or_no_file_has_nothing_to_compare_with(self):
        self.assertIn("nothing to compare with", self.run_it("compare", bench(1)))
        self.run_it("append", bench(1))
        self.assertIn("nothing to compare with", self.run_it("compare", bench(1, state="far")))
        self.assertIn("nothing to compare with", self.run_it("compare", bench(1, one_way=170)))
        self.assertNotIn("nothing to compare with", self.run_it("compare", bench(1, one_way=45)))


if __name__ == "__main__":
    unittest.main()
