# SPDX-License-Identifier: Apache-2.0
"""coset bench and coset info, run as their users run them: exit statuses, columns and JSON."""
import csv
import fcntl
import json
import os
import re
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

COSET = sys.argv.pop(1)
SHORT = ["bench", "-b", "8", "-e", "512", "-f", "8", "-n", "20", "--rounds", "7", "-t", "1"]


def coset(*arguments):
    return subprocess.run([COSET, *arguments], capture_output=True, text=True, timeout=120, check=False)


class Bench(unittest.TestCase):
    def test_prints_a_row_per_size_with_the_best_rival_and_a_column_per_rival(self):
        run = coset(*SHORT, "--against", "std,omp")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        rows = [line for line in run.stdout.splitlines() if " float " in line]
        self.assertEqual(sorted({int(row.split()[0]) for row in rows}), [8, 64, 512])
        for row in rows:
            self.assertRegex(row, r" sum +coset .* near +[\d.]+× \[[\d.]+, [\d.]+\] (omp|flags|std::barrier).*, "
                                  "(faster|level|slower|undecided)$")
        table = run.stdout.split("How many times faster coset is")[1].split("Next:")[0]
        for words in ("private", "reduction", "std::barrier", "512 B"):
            self.assertIn(words, table)
        self.assertNotIn("flag round", table)
        self.assertRegex(table, r"\n +64 B +near +[\d.]+( +[\d.]+×[ ?!]?){5,}")
        self.assertIn("coset why allreduce ", run.stdout.split("Next:")[1])
        self.assertIn("--report", run.stdout.split("Next:")[1])

    def judged(self, *words, ranks="2"):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "judged.json")
            run = coset("bench", *words, "--ranks", ranks, "--rounds", "6", "-n", "20", "--json", name)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            with open(name, encoding="utf-8") as file:
                return run.stdout, json.load(file)

    def test_guidelines_hold_a_verb_against_all_that_gives_as_much(self):
        compositions = {"reduce": {"allreduce", "reduce_scatter + gather"}, "broadcast": {"scatter + allgather"},
                        "scan": {"exclusive_scan + own fold"}, "allreduce_view": {"allreduce", "reduce_shared"}}
        for verb, others in compositions.items():
            text, found = self.judged(verb, "64", "1K", "--guidelines")
            rows = found["rows"]
            self.assertEqual({row["verb"] for row in rows} or {verb}, {verb})
            self.assertLessEqual({row["than"] for row in rows}, others)
            self.assertTrue(all(row["from"] <= row["ratio"] <= row["to"] for row in rows))
            self.assertEqual(found["within"], sum(row["ratio"] <= found["limit"] for row in rows))
            self.assertIn(f"{found['within']} of {found['of']} cells within 1.05\n", text)

    def test_regret_is_against_the_best_of_plans_compositions_and_rivals(self):
        _, found = self.judged("all", "1K", "--regret", "--against", "std", ranks="1")
        self.assertLessEqual({"allreduce", "allreduce_view", "reduce_shared", "barrier"}, {row["verb"] for row in found["rows"]})
        for row in found["rows"]:
            self.assertGreaterEqual(row["regret"], 1)
            if row["verb"] != "allreduce_view":  # which has no plan objects
                self.assertGreaterEqual(row["regret_of_first_plan"], 1)
            if row["regret"] == 1:
                self.assertEqual(row["best"], "the default")
        for refused in (["--regret", "--guidelines"], ["--regret", "--plan", "ring"], ["--guidelines", "--against", "std"], ["all"],
                        ["all", "--scaling"], ["--resume", "/dev/null"], ["--beside", __file__]):
            self.assertEqual(coset("bench", *refused).returncode, 2, refused)

    def test_a_narrow_terminal_gets_the_table_in_parts(self):
        def widest(columns):
            ours, theirs = os.openpty()
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
            with subprocess.Popen([COSET, *SHORT], stdout=theirs, stderr=subprocess.DEVNULL) as run:
                os.close(theirs)
                seen = b""
                while True:
                    try:
                        more = os.read(ours, 1 << 16)
                    except OSError:  # the other side is closed
                        break
                    seen += more
            os.close(ours)
            self.assertEqual(run.returncode, 0)
            table = seen.decode().split("How many times faster")[1].split("Next:")[0].splitlines()[1:]
            return max(map(len, table)), sum("coset" in line for line in table)
        narrow, wide = widest(70), widest(400)
        self.assertLessEqual(narrow[0], 70)
        self.assertGreater(wide[0], 70)
        self.assertGreater(narrow[1], 1)
        self.assertEqual(wide[1], 1)

    def test_prints_on_demand_a_row_per_size_and_contestant_and_no_progress_into_a_pipe(self):
        run = coset(*SHORT, "--all", "--against", "std,omp")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr, "")
        rows = [line.split() for line in run.stdout.splitlines() if " float " in line]
        for size in ("8", "64", "512"):
            who = " ".join(" ".join(row) for row in rows if row[0] == size)
            for name in ("coset", "flag round", "omp private", "omp reduction", "std::barrier"):
                self.assertIn(name, who)
            self.assertNotIn("tbb", who)

    def test_json_carries_all_figures(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "bench.json")
            run = coset(*SHORT, "--against", "std", "-d", "double", "-o", "max", "--timing", "call", "--json", file)
            self.assertEqual(run.returncode, 0, run.stderr)
            with open(file, encoding="utf-8") as text:
                found = json.load(text)
        self.assertEqual((found["coset_bench"], found["ranks"], found["timing"]), (2, 1, "call"))
        for fact in ("version", "commit", "host", "compiler", "flags", "processor", "kernel", "units", "variables"):
            self.assertIn(fact, found)
        self.assertRegex(found["date"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertNotIn("partial", found)
        self.assertEqual([size["size"] for size in found["sizes"]], [8, 64, 512])
        for size in found["sizes"]:
            self.assertEqual((size["type"], size["op"], size["count"]), ("double", "max", size["size"] // 8))
            rows = {row["who"]: row for row in size["states"][0]["rows"]}
            self.assertNotIn("times_faster", rows["coset"])
            found_of = rows["std::barrier"]["times_faster"]
            self.assertLessEqual(found_of["low"], found_of["median"])
            self.assertLessEqual(found_of["median"], found_of["high"])
            of_rounds = statistics.median(theirs / ours for ours, theirs in zip(rows["coset"]["rounds_ns"],
                                                                               rows["std::barrier"]["rounds_ns"]))
            self.assertAlmostEqual(found_of["median"] / of_rounds, 1, 6)  # an odd number of rounds, or near it
            self.assertEqual(rows["coset"]["iterations"], 20 * size["states"][0]["rounds"])
            self.assertIn(size["states"][0]["best_rival"], rows)
            self.assertEqual(sum(row["wrong"] for row in rows.values()), 0)

    def test_regimes_give_a_row_for_each_size_and_phase(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "regimes.json")
            run = coset("bench", "--regimes", "--sizes", "8K,64K", "--rounds", "6", "-t", "1", "--json", file)
            self.assertEqual(run.returncode, 0, run.stderr)
            with open(file, encoding="utf-8") as text:
                found = json.load(text)
        phases = [row["phase"] for row in found["rows"] if row["size"] == 8192]
        self.assertEqual(phases[:3], ["rewrite, call, read", "call alone", "rewrite, call, read again"])
        self.assertEqual(len(found["rows"]), 2 * len(phases))
        for row in found["rows"]:
            self.assertEqual(min(row["median_ns"], key=lambda who: (who == "coset", row["median_ns"][who])), row["best"])
            self.assertLessEqual(row["times_faster"]["low"], row["times_faster"]["high"])
        refused = coset("bench", "reduce", "--regimes")
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertIn("--regimes measures allreduce, not reduce", refused.stderr)

    def test_the_name_of_the_machine_state_of_one_rank_is_near(self):
        self.assertIn("near", coset(*SHORT, "--against", "std").stdout)

    def test_bad_arguments_exit_with_2_and_say_what_would_do(self):
        for arguments, hint in (
            (["allwrong"], "allreduce"),
            (["-d", "half"], "double"),
            (["-o", "avg"], "prod"),
            (["--against", "smoke"], "tbb"),
            (["-f", "1"], "2"),
            (["-b", "0", "-e", "1"], "'0' is not a size"),
            (["-b", "8", "-e", "-1"], "'-1' is not a size"),
            (["--sizes", "8,64T"], "do not fit"),
            (["-n", "0"], "0"),
            (["-b", "1M", "-e", "1K"], "1048576"),
            (["-t", "100000"], "100000"),
            (["--scaling", "--beside", __file__], "is no file of coset bench --scaling"),
            (["--scaling", "--resume", __file__], "is no file of coset bench --scaling"),
            (["reduce", "--scaling", "--resume", __file__], "--resume"),
            (["--regimes", "--report", "x"], "--report"),
            (["--report", "x", "--scaling-file", "/dev/null"], "/dev/null is a pipe or device"),
            (["--report", "x", "--scaling-file", __file__], "is no file of coset bench --scaling"),
            (["--report", "/nowhere/x", "-b", "8", "-e", "8", "-t", "1", "-n", "2", "--rounds", "1"], "/nowhere/x"),
            (["--json", "/nowhere/x", "-b", "8", "-e", "8", "-t", "1", "-n", "2", "--rounds", "1"], "/nowhere/x"),
        ):
            with self.subTest(arguments):
                run = coset("bench", *arguments)
                self.assertEqual(run.returncode, 2, run.stdout)
                self.assertIn(hint, run.stderr)


class Files(unittest.TestCase):
    """Where figures go: checked before anything is measured, replaced in one step, and kept on Ctrl-C."""

    QUICK = ["bench", "allreduce", "8", "-n", "2", "--rounds", "1", "-t", "1", "--against", "std"]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.file = os.path.join(self.folder, "figures.json")

    def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(self):
        os.mkdir(os.path.join(self.folder, "a folder"))
        for file in ("/proc/none/figures.json", os.path.join(self.folder, "a folder")):
            run = coset("bench", "--json", file)
            self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
            self.assertIn(f"cannot write '{file}'", run.stderr)

    def test_a_file_is_replaced_and_nothing_is_left_beside_it(self):
        real, link = os.path.join(self.folder, "real.json"), os.path.join(self.folder, "link.json")
        with open(real, "w", encoding="utf-8") as out:
            out.write("older figures")
        os.symlink(real, link)
        run = coset(*self.QUICK, "--json", link)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(sorted(os.listdir(self.folder)), ["link.json", "real.json"])
        self.assertTrue(os.path.islink(link))
        with open(real, encoding="utf-8") as text:
            self.assertNotIn("interrupted", json.load(text))

    @unittest.skipUnless(os.path.exists("/dev/full"), "no full device here")
    def test_a_full_disk_is_exit_status_1_and_devices_stay_devices(self):
        full = os.path.join(self.folder, "full")
        os.symlink("/dev/full", full)
        run = coset(*self.QUICK, "--json", full)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn(f"cannot write '{full}'", run.stderr)
        with open("/dev/full", "w", encoding="utf-8") as lost:
            run = subprocess.run([COSET, *self.QUICK, "--json", self.file], stdout=lost, stderr=subprocess.PIPE, text=True,
                                 timeout=120, check=False)
        self.assertEqual(run.returncode, 1, run.stderr)
        with open(self.file, encoding="utf-8") as text:
            self.assertEqual(len(json.load(text)["sizes"]), 1, "what was measured is kept")

    def test_a_row_of_csv_for_each_contestant(self):
        run = coset(*self.QUICK, "--csv", self.file)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        with open(self.file, encoding="utf-8", newline="") as text:
            rows = list(csv.DictReader(text))
        self.assertLessEqual({"coset", "flag round", "std::barrier"}, {row["who"] for row in rows})
        for row in rows:
            self.assertEqual((row["size"], row["run"], None in row.values()), ("8", "whole", False))
            self.assertLessEqual(float(row["min_ns"]), float(row["median_ns"]))

    def test_quotes_in_names_and_bytes_that_are_no_text_stay_in_their_cells(self):
        plan, table = os.path.join(self.folder, 'a "b".json'), os.path.join(self.folder, "figures.csv")
        made = coset("plan", "--plan", "direct", "-r", "1", "--json")
        with open(plan, "w", encoding="utf-8") as out:
            out.write(made.stdout)
        run = subprocess.run([COSET, *self.QUICK, "--plan", f"plan(file={plan})", "--csv", table, "--json", self.file],
                             capture_output=True, text=True, timeout=120, check=False,
                             env={**os.environ, "KMP_AFFINITY": "\udcff"})
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        with open(table, encoding="utf-8", newline="") as text:
            rows = list(csv.DictReader(text))
        self.assertTrue(any(plan in row["who"] for row in rows), rows)
        self.assertEqual({row["run"] for row in rows}, {"whole"})
        with open(self.file, encoding="utf-8") as text:
            self.assertEqual(json.load(text)["variables"]["KMP_AFFINITY"], "\ufffd")

    def test_a_file_of_scaling_is_checked_before_anything_is_measured(self):
        for text in ("{}", '{"coset_scaling":1}', '{"coset_scaling":1,"runs":7}', '{"coset_scaling":1,"runs":[{"state":3}]}', "[", ""):
            with open(self.file, "w", encoding="utf-8") as out:
                out.write(text)
            run = coset(*self.QUICK, "--report", os.path.join(self.folder, "page.html"), "--scaling-file", self.file)
            self.assertEqual((run.returncode, run.stdout), (2, ""), text)
            self.assertIn("is no file of coset bench --scaling", run.stderr)

    def test_no_text_in_the_data_can_end_the_scripts_of_the_page(self):
        broken = "</script><script>document.title = 'broken out'</script><!--"
        run = subprocess.run([COSET, *self.QUICK, "--report", self.file], capture_output=True, text=True, timeout=120, check=False,
                             env={**os.environ, "KMP_AFFINITY": broken})
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        with open(self.file, encoding="utf-8") as text:
            page = text.read()
        self.assertNotIn("</script><script>document", page)
        data = re.search(r'<script type="application/json" id="figures">(.*?)</script>', page, re.S)[1]
        self.assertNotIn("<", data)
        data = json.loads(data)
        self.assertEqual(data["bench"]["variables"]["KMP_AFFINITY"], broken)
        self.assertEqual([why["bytes"] for why in data["why"]], [8])
        self.assertGreater(data["machine"]["cores"], 0)
        self.assertNotIn("{{", re.sub(r"<script.*?</script>", "", page, flags=re.S), "a part that was not put in")

    def test_ctrl_c_keeps_what_has_been_measured(self):
        sizes = ["8"] * 1000
        table, page = (os.path.join(self.folder, name) for name in ("figures.csv", "page.html"))
        run = subprocess.Popen([COSET, *self.QUICK[:2], *sizes, *self.QUICK[2:], "--json", self.file, "--csv", table, "--report", page],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = [run.stdout.readline() for _ in range(12)]
        run.send_signal(signal.SIGINT)
        rest, told = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 130, told)
        self.assertRegex(rest, r"How many times faster[^#]*partial: \d+ of 1001 sizes were measured")
        self.assertRegex(told, r"interrupted, \d+ of 1001 measured")
        with open(self.file, encoding="utf-8") as text:
            found = json.load(text)
        self.assertTrue(found["interrupted"])
        self.assertTrue(0 < len(found["sizes"]) < 1001, lines)
        self.assertEqual(found["partial"], {"measured": len(found["sizes"]), "asked": 1001})
        with open(table, encoding="utf-8", newline="") as text:
            rows = list(csv.DictReader(text))
        self.assertEqual({row["run"] for row in rows}, {"partial"})
        self.assertEqual(sum(row["who"] == "coset" for row in rows), sum(len(size["states"]) for size in found["sizes"]))
        with open(page, encoding="utf-8") as text:
            self.assertIn('"partial":{"measured":' + str(len(found["sizes"])), text.read())
        self.assertEqual(sorted(os.listdir(self.folder)), ["figures.csv", "figures.json", "page.html"])

    def test_ctrl_c_keeps_the_scaling_that_has_been_measured(self):
        sizes = [str(4096 + 4 * k) for k in range(1000)]
        run = subprocess.Popen([COSET, "bench", "allreduce", *sizes, "--scaling", "--rounds", "1", "-n", "2", "-t", "1",
                                "--json", self.file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not run.stdout.readline().lstrip().startswith("compact"):
            self.assertIsNone(run.poll())
        run.send_signal(signal.SIGTERM)
        _, told = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 128 + signal.SIGTERM, told)
        with open(self.file, encoding="utf-8") as text:
            found = json.load(text)
        self.assertTrue(found["interrupted"] and 0 < len(found["runs"]) < 2000)
        self.assertEqual(found["partial"], {"measured": len(found["runs"]), "asked": 2000})
        self.assertGreater(len(found["streams"]), 0)

    def test_ctrl_c_keeps_the_cells_that_have_been_tuned(self):
        ours, theirs = os.openpty()  # progress is shown to terminals
        run = subprocess.Popen([COSET, "tune", "-t", "1", "-o", self.file], stdout=subprocess.PIPE, stderr=theirs, text=True)
        os.close(theirs)
        seen = b""
        while b"[#" not in seen:
            seen += os.read(ours, 1000)
        run.send_signal(signal.SIGINT)
        text, _ = run.communicate(timeout=120)
        os.close(ours)
        self.assertEqual(run.returncode, 130)
        self.assertRegex(text, r"\d+ of \d+ cells were left out: interrupted")
        left, cells = map(int, re.search(r"(\d+) of (\d+) cells", text).groups())
        self.assertTrue(0 < left < cells, text)
        with open(self.file, encoding="utf-8") as kept:
            self.assertEqual(json.load(kept)["coset_profile"], 1)


class Scaling(unittest.TestCase):
    SHORT = ["bench", "allreduce", "4K", "64K", "--scaling", "--rounds", "2", "-n", "5"]

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.most = min(len(os.sched_getaffinity(0)), 2)
        cls.file, cls.csv = (os.path.join(cls.folder, name) for name in ("scaling.json", "scaling.csv"))
        cls.made = coset(*cls.SHORT, "-t", str(cls.most), "-d", "double", "--json", cls.file, "--csv", cls.csv)
        with open(cls.file, encoding="utf-8") as text:
            cls.found = json.load(text)

    def changed(self, name, change):
        """A file like the first one, but for what this function does to its data."""
        found = json.loads(json.dumps(self.found))
        change(found)
        file = os.path.join(self.folder, name)
        with open(file, "w", encoding="utf-8") as out:
            json.dump(found, out)
        return file

    def test_every_number_of_ranks_has_both_timings_of_every_size(self):
        self.assertEqual((self.made.returncode, self.made.stderr), (0, ""))
        found = self.found
        self.assertEqual((found["coset_scaling"], found["type"]), (2, "double"))
        expected = [(ranks, size, timing) for ranks in range(1, self.most + 1) for size in (4096, 65536)
                    for timing in ("cycle", "call")]
        self.assertEqual([(run["ranks"], run["size"], run["timing"]) for run in found["runs"] if run["place"] == "compact"],
                         expected)
        for run in found["runs"]:
            self.assertEqual((run["verb"], len(run["processors"]), run["wrong"]), ("allreduce", run["ranks"], 0))
            if run["rounds"] == 0 or run["beside"] is None:
                continue  # a machine that changed in every round
            beside = run["beside"]
            for rate in ("read", "copy", "kernel"):
                self.assertAlmostEqual(sum(node[rate] for node in beside["nodes"]), beside[rate], 6)
            self.assertEqual(beside["handed_over"] is None, run["ranks"] == 1)
            self.assertTrue(run["time_ns"]["low"] <= run["time_ns"]["median"] <= run["time_ns"]["high"])
            self.assertAlmostEqual(run["busbw"], run["algbw"] * 2 * (run["ranks"] - 1) / run["ranks"], 6)
            moved = run["ranks"] * run["size"] * (4 if run["timing"] == "cycle" else 2)
            self.assertEqual(run["moved_bytes"], moved)
            self.assertAlmostEqual(run["reached"], run["moved"] / beside["kernel"], 6)
            self.assertEqual(run["limit"]["parts_ns"]["own_work"] > 0, run["timing"] == "cycle")
            self.assertIn(f"{run['size'] // 1024} KiB", self.made.stdout)

    def test_speed_up_is_of_the_same_point_on_one_rank(self):
        base = {(run["size"], run["timing"]): run for run in self.found["runs"] if run["ranks"] == 1}
        for run in self.found["runs"]:
            if run["rounds"] == 0 or base[run["size"], run["timing"]]["rounds"] == 0:
                continue
            one = base[run["size"], run["timing"]]["time_ns"]["median"]
            self.assertAlmostEqual(run["speedup"]["median"], run["ranks"] * one / run["time_ns"]["median"], 6)
            self.assertAlmostEqual(run["efficiency"]["median"], run["speedup"]["median"] / run["ranks"], 6)
            self.assertLessEqual(run["speedup"]["low"], run["speedup"]["median"])

    def test_streams_loops_and_the_time_it_takes_are_told(self):
        pages = {(stream["where"], stream["pages"]) for stream in self.found["streams"]}
        nodes = [node["node"] for node in self.found["machine"]["nodes"]]
        expected = {*((f"node {node}", "first touch") for node in nodes), ("one core", "first touch")}
        if len(nodes) > 1:
            expected |= {("all nodes", how) for how in ("first touch", "interleaved", f"bound to node {nodes[0]}")}
        self.assertEqual(pages, expected)
        for stream in self.found["streams"]:
            if stream["pages_on"]:  # the system tells
                self.assertEqual(sum(stream["pages_on"].values()),
                                 3 * stream["ranks"] * stream["array_bytes"] // os.sysconf("SC_PAGESIZE"))
            for what in ("read", "copy", "triad", "fold", "fold_around"):
                self.assertGreater(stream[what]["median"], 0)
        between = self.found["between_nodes"]
        self.assertEqual(len(between["read"]), len(between["nodes"]))
        loops = {(run["loop"], run["ranks"]) for run in self.found["reducers"]}
        self.assertEqual(loops, {(loop, ranks) for loop in ("histogram", "dense scatter", "thin scatter")
                                 for ranks in range(1, self.most + 1)})
        self.assertEqual({run["wrong"] for run in self.found["reducers"]}, {0})
        self.assertRegex(self.made.stdout, r"# \d+ points on \d+ sets of processors, about \d+ (seconds|minutes)")
        self.assertIn("What limits it on", self.made.stdout)

    def test_csv_has_a_line_for_each_point_stream_and_loop(self):
        with open(self.csv, encoding="utf-8", newline="") as text:
            rows = list(csv.DictReader(text))
        kinds = [row["kind"] for row in rows]
        self.assertEqual([kinds.count(kind) for kind in ("point", "stream", "loop")],
                         [len(self.found["runs"]), 5 * len(self.found["streams"]), len(self.found["reducers"])])
        points = [row for row in rows if row["kind"] == "point"]
        for row, run in zip(points, self.found["runs"]):
            self.assertEqual((row["place"], int(row["ranks"]), row["run"]), (run["place"], run["ranks"], "whole"))
            if run["rounds"] > 0:
                self.assertEqual(row["limit_words"], run["limit"]["words"] if "limit" in run else "")
                self.assertAlmostEqual(float(row["time_ns"]), run["time_ns"]["median"], 3)

    def test_other_programs_and_pages_elsewhere_are_told(self):
        def disturb(found):
            found["runs"] = found["runs"][:3]
            found["partial"] = {"measured": 3, "asked": len(self.found["runs"])}
            for run in found["runs"]:
                run["others_share"], run["pages_at_home"] = 0.4, 0.75

        run = coset("bench", "--scaling", "--resume", self.changed("disturbed.json", disturb))
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        told = run.stdout.count("25 % of pages elsewhere, others had 40 % of the cores")
        self.assertEqual(told, sum(run["rounds"] > 0 for run in self.found["runs"][:3]))
        self.assertRegex(run.stdout, r"\d of \d+ points shared their cores with other programs")

    def test_an_interrupted_run_is_resumed_where_it_ended(self):
        def half(found):
            found["runs"] = found["runs"][:3]
            found["reducers"] = []
            found["partial"] = {"measured": 3, "asked": len(self.found["runs"])}
            found["interrupted"] = True
        file = self.changed("half.json", half)
        run = coset("bench", "--scaling", "--resume", file)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn(f"{len(self.found['runs']) - 3} of {len(self.found['runs'])} points are left", run.stdout)
        with open(file, encoding="utf-8") as text:
            now = json.load(text)
        self.assertFalse({"partial", "interrupted"} & set(now))
        self.assertEqual(now["runs"][:3], self.found["runs"][:3], "what was measured stays")
        point = lambda run: [run[key] for key in ("place", "ranks", "verb", "size", "timing")]
        self.assertEqual([point(run) for run in now["runs"]], [point(run) for run in self.found["runs"]])
        self.assertEqual(now["streams"], self.found["streams"])
        self.assertEqual(len(now["reducers"]), len(self.found["reducers"]))

    def test_a_run_of_another_machine_is_not_resumed(self):
        def other(found):
            found["host"] = "elsewhere"
            found["partial"] = {"measured": 0, "asked": 4}
        run = coset("bench", "--scaling", "--resume", self.changed("other.json", other))
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("cannot be resumed here: its host is elsewhere", run.stderr)

    def test_two_machines_are_laid_side_by_side(self):
        def slower(found):
            found["host"] = "elsewhere"
            for run in (each for each in found["runs"] if each["rounds"] > 0):
                run["time_ns"]["median"] *= 2
                run["rounds_ns"] = [2 * ns for ns in run["rounds_ns"]]
        run = coset("bench", "--scaling", "--resume", self.file, "--beside", self.changed("slower.json", slower))
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        told = run.stdout.split("Beside each other")[1]
        self.assertIn("elsewhere", told)
        lines = [line for line in told.splitlines() if "allreduce" in line]
        self.assertEqual(len(lines), sum(run["rounds"] > 0 for run in self.found["runs"]))
        for line in lines:
            self.assertIn("  2.00 [", line)

    @unittest.skipUnless(len(os.sched_getaffinity(0)) >= 2, "one processor has one node")
    def test_nodes_are_told_apart(self):
        two = ",".join(str(p) for p in sorted(os.sched_getaffinity(0))[:2])
        file = os.path.join(self.folder, "nodes.json")
        run = subprocess.run([COSET, "bench", "allreduce", "4K", "--scaling", "--rounds", "1", "-n", "2", "--json", file],
                             capture_output=True, text=True, timeout=120, check=False,
                             env={**os.environ, "HWLOC_SYNTHETIC": f"node:2 core:1 pu:1(indexes={two})", "HWLOC_THISSYSTEM": "1"})
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        with open(file, encoding="utf-8") as text:
            found = json.load(text)
        self.assertEqual(found["nodes"], 2)
        self.assertEqual({(run["place"], run["ranks"]) for run in found["runs"]}, {("compact", 1), ("compact", 2), ("node 1", 1)})
        self.assertEqual({tuple(run["on_nodes"]) for run in found["runs"]}, {(0,), (1,), (0, 1)})
        between = found["between_nodes"]
        self.assertEqual([[value is None for value in row] for row in between["latency_ns"]], [[True, False], [False, True]])
        for row in between["read"]:  # of a node that is there; pages of the other come from elsewhere, which is no figure
            self.assertGreater(row[0], 0)
            if found["streams"][0]["pages_on"] and not os.path.exists("/sys/devices/system/node/node1"):
                self.assertIsNone(row[1])
        self.assertIn("reads of the memory of, GB/s", run.stdout)

    def test_ranks_in_turns_are_marked(self):
        file = os.path.join(self.folder, "turns.json")
        ranks = len(os.sched_getaffinity(0)) + 1
        run = coset("bench", "barrier", "--scaling", "--rounds", "1", "-n", "2", "-t", str(ranks), "--json", file)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        with open(file, encoding="utf-8") as text:
            last = [run for run in json.load(text)["runs"] if run["ranks"] == ranks][0]
        self.assertEqual((last["beyond_cores"], last["limit"]["by"]), ("turns", "turns"))
        self.assertIn(f"{ranks}++", run.stdout)

    def test_what_does_not_go_with_scaling_is_refused(self):
        for arguments in (["--timing", "call"], ["--against", "std"], ["-t", "100000"], ["--resume", self.file]):
            run = coset(*self.SHORT, *arguments)
            self.assertEqual((run.returncode, run.stdout), (2, ""), arguments)


class Tune(unittest.TestCase):
    def test_profile_is_kept_where_it_was_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "deep", "profile.json")
            run = coset("tune", "-t", "1", "-o", file)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn(file, run.stdout)
            with open(file, encoding="utf-8") as opened:
                self.assertEqual(json.load(opened)["coset_profile"], 1)

    def test_a_place_that_cannot_be_written_is_refused_before_anything_is_measured(self):
        run = coset("tune", "-o", "/proc/none/profile.json")
        self.assertEqual(run.returncode, 2)
        self.assertIn("/proc/none/profile.json", run.stderr)


class Info(unittest.TestCase):
    def test_text_names_what_it_found(self):
        run = coset("info")
        self.assertEqual(run.returncode, 0, run.stderr)
        for words in ("cores", "instruction set", "one-way cache line latency", "a team of", "quota"):
            self.assertIn(words, run.stdout)

    def test_json_matrix_has_a_row_per_rank_of_the_default_team(self):
        found = json.loads(coset("info", "--json").stdout)
        ranks = len(found["team"])
        self.assertEqual(ranks, found["cores"])
        self.assertEqual([len(row) for row in found["latency_ns"]], [ranks] * ranks)
        self.assertIn(found["instruction_set"], found["instruction_sets"])


if __name__ == "__main__":
    unittest.main()
