# SPDX-License-Identifier: Apache-2.0
"""bench/simulation: what is simulated is what the schedules say, twice the same, and the claims hold that a few seconds can show.

usage: simulation_test.py FOLDER-OF-BENCH SIMULATION-BENCH COSET
"""
import csv
import fractions
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BENCH, PROGRAM, COSET = (pathlib.Path(sys.argv.pop(1)) for _ in range(3))
sys.path.insert(0, str(BENCH / "simulation"))
from platforms import Link, star  # noqa: E402

SETTINGS = ["network/model:SMPI", "surf/precision:1e-9", "smpi/simulate-computation:no", "network/crosstraffic:no",
            "network/weight-S:0", "smpi/bw-factor:0:1", "smpi/lat-factor:0:1", "smpi/os:0:1e-6:0", "smpi/ois:0:1e-6:0",
            "smpi/or:0:1e-6:0"]
CALLER = """
#include <mpi.h>
#include <stdio.h>
int generated(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
static int in[COUNT], out[COUNT];
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, wrong = 0, all_wrong;
  double took, longest;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < COUNT; ++i) in[i] = i * (rank + 1);
  took = MPI_Wtime();
  generated(in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  took = MPI_Wtime() - took;
  for (int i = 0; i < COUNT; ++i) wrong += out[i] != i * (ranks * (ranks + 1) / 2);
  MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d %.9e\\n", all_wrong, longest);
  MPI_Finalize();
}
"""


def run(*arguments, **options):
    made = subprocess.run([str(each) for each in arguments], capture_output=True, text=True, timeout=900, check=False, **options)
    if made.returncode != 0:
        raise AssertionError(f"{arguments}: {made.returncode}\n{made.stdout[-2000:]}{made.stderr[-2000:]}")
    return made.stdout


class Simulation(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def place(self, shape):
        """Hosts with these numbers of ranks, and the options that say so."""
        machine = star(len(shape), Link(1.25e9, 5e-6), Link(1e10, 3e-7), max(shape))
        placement = [f"host-{host}" for host, ranks in enumerate(shape) for _ in range(ranks)]
        (self.folder / "platform.xml").write_text(machine.xml())
        (self.folder / "hosts").write_text("".join(host + "\n" for host in placement))
        (self.folder / "network.json").write_text(machine.network(placement))
        return ["--platform", self.folder / "platform.xml", "--placement", self.folder / "hosts", "--overhead", "1e-6"]

    def simulate(self, options, *lines):
        return [float(line.split()[1]) for line in run(PROGRAM, *options, input="\n".join(lines)).splitlines()]

    def results(self, folder, *options):
        run(sys.executable, BENCH / "simulation/simulate.py", "--program", PROGRAM, "--quick", "--jobs", "1", "--results",
            self.folder / folder, *options)
        return [list(csv.DictReader(io.StringIO((self.folder / folder / name).read_text()))) for name in ("simulated.csv", "model.csv")]

    def test_claims_hold_and_two_runs_give_the_same_figures(self):
        all_of_them = self.results("all", "--check")
        again = self.results("again", "--experiment", "patarasuk", "--experiment", "torus")
        for rows, same in zip(all_of_them, again, strict=True):
            self.assertEqual([row for row in rows if row["experiment"].startswith(("patarasuk", "torus"))], same)
        self.assertEqual(list(all_of_them[0][0]), ["experiment", "ranks", "mapping", "algorithm", "bytes", "seconds"])
        self.assertTrue(all(float(row["seconds"]) > 0 for row in all_of_them[0]))

    @unittest.skipIf(shutil.which("smpicc") is None, "SimGrid's compiler is not installed")
    def test_the_routine_generated_from_a_schedule_adds_rightly_and_takes_the_simulated_time(self):
        count = 70_000
        (self.folder / "caller.c").write_text(CALLER.replace("COUNT", str(count)))
        for algorithm, shape in (("generalized(saved_steps=1)", [3, 2, 2]), ("unequal(nodes=3+2+2)", [3, 2, 2]), ("swing", [5, 5])):
            with self.subTest(algorithm):
                took, = self.simulate(self.place(shape), f"{4 * count} {algorithm}")
                (self.folder / "generated.c").write_text(run(COSET, "generate", "mpi", algorithm, "--ranks", sum(shape),
                                                             "--name", "generated"))
                run("smpicc", "-O1", "caller.c", "generated.c", "-o", "caller", cwd=self.folder)
                wrong, longest = run("smpirun", "-np", sum(shape), "-platform", "platform.xml", "-hostfile", "hosts",
                                     "--log=root.thres:warning", *(f"--cfg={each}" for each in SETTINGS), "./caller",
                                     cwd=self.folder).split()
                self.assertEqual(wrong, "0")
                self.assertAlmostEqual(float(longest) / took, 1, delta=0.02)

    def test_the_order_of_calls_makes_no_difference(self):
        options = [*self.place([4, 4]), "--comparator", "mvapich2_two_level"]
        first = self.simulate(options, "1000", "1000 generalized", "200000", "1000")
        again = self.simulate(options, "200000", "1000 generalized", "1000", "1000")
        for one, other in zip([first[2], first[1], first[0], first[3], first[0]], [*again, first[3]], strict=True):
            self.assertAlmostEqual(one / other, 1, delta=1e-6)  # SimGrid's clock has nanoseconds

    def test_prices_are_those_of_coset_cost(self):
        self.place([3, 2, 2])
        names = ["generalized(saved_steps=1)", "unequal(nodes=3+2+2)", "ring"]
        priced = run(PROGRAM, "--model", self.folder / "network.json", "--overhead", "1e-6", "--combine", "2e-10",
                     input="\n".join(f"100000 {name}" for name in names))
        told = json.loads(run(COSET, "cost", *names, "--links", self.folder / "network.json", "--ranks", 7, "-b", "100000", "--alpha",
                              "2e-6", "--gamma", "2e-10", "--json"))
        for line, price in zip(priced.splitlines(), told["prices"], strict=True):
            _, seconds, steps, vectors, messages, name = line.split()
            self.assertEqual((name, int(steps), int(messages)), (price["algorithm"], price["steps"], price["most_messages"]))
            self.assertAlmostEqual(float(seconds) / price["seconds"], 1, delta=1e-8)
            self.assertAlmostEqual(float(vectors), float(fractions.Fraction(price["busiest"]["vectors"])), delta=1e-6)

    def test_segments_send_as_much(self):
        options = self.place([2, 2])
        whole, segments = self.simulate(options, "100000000 unequal(nodes=2+2)", "100000000 unequal(nodes=2+2)/8")
        self.assertLess(segments, whole)
        self.assertGreater(segments, 0.08)  # one vector over each link of 1.25 GB/s

    def test_segments_weigh_as_much_as_the_whole(self):
        self.place([2, 2])
        priced = run(PROGRAM, "--model", self.folder / "network.json", input="\n".join(
            f"100000000 unequal(nodes=2+2){segments}" for segments in ("", "/8", "/16")))
        whole, *cut = [line.split() for line in priced.splitlines()]
        for line in cut:
            self.assertAlmostEqual(float(line[3]), float(whole[3]), delta=1e-6)  # vectors over the busiest link
            self.assertLess(float(line[1]), 1.01 * float(whole[1]))

    def test_says_what_it_cannot_read(self):
        for line, why in (("x ring", "begins with no number of bytes"), ("8 ring/0x", "ends with no number of segments"),
                          ("8 nonsense", "nonsense")):
            made = subprocess.run([str(each) for each in [PROGRAM, *self.place([2])]], input=line, capture_output=True, text=True,
                                  check=False)
            self.assertEqual(made.returncode, 2)
            self.assertIn(why, made.stderr)


if __name__ == "__main__":
    unittest.main()
