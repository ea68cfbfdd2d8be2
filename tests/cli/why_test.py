#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coset why: the choice, priced term by term.

    why_test.py COSET [unittest's arguments]
"""
import json
import unittest

from command import COSET, Files, coset, some, needs_lab
from definitions import shapes

TERMS = ["rounds", "peers", "bytes", "combining", "copies", "owners", "reaching", "memory", "meeting"]


def why(*arguments):
    result = coset("why", *arguments, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


class Why(Files):
    def test_terms_add_up_and_the_cheapest_comes_first(self):
        for arguments in (["allreduce", "1M", "--topology", "package:2 l3:2 core:6 pu:1", "--ranks", 24],
                          ["allreduce", 8, "--topology", "core:31 pu:1"], ["reduce", "64K", "--nodes", "5,2,4"],
                          ["allgather", "4K", "--ranks", 2], ["reduce_shared", "2K", "--topology", "core:4 pu:1"]):
            found = why(*arguments)
            self.assertGreater(len(found["candidates"]), 1 if found["ranks"] > 2 else 0, arguments)
            for one in [found["chosen"], *found["candidates"]]:
                self.assertAlmostEqual(sum(one[term] for term in TERMS), one["seconds"], places=15)
            seconds = [one["seconds"] for one in found["candidates"]]
            self.assertEqual(seconds, sorted(seconds))
            names = [(one["algorithm"], one["seconds"]) for one in found["candidates"]]
            self.assertIn((found["chosen"]["algorithm"], found["chosen"]["seconds"]), names, arguments)

    def test_the_chosen_schedule_is_the_cheapest_or_others_gain_less_than_a_tenth(self):
        machines = ("core:4 pu:1", "core:16 pu:1", "core:17 pu:1", "l3:24 core:8 pu:1", "package:2 core:31 pu:1")
        for size, machine in some((8, "4K", "64K", "1M", "64M"), machines, each=3):
            found = why("allreduce", size, "--topology", machine)
            self.assertLessEqual(found["chosen"]["seconds"] * 0.9, found["candidates"][0]["seconds"], (size, machine))

    def test_what_is_cheaper_and_not_chosen_has_the_rule_that_removes_it(self):
        gather = ["gather", 4096, "--topology", "package:4 core:28 pu:1"]
        found = why(*gather)
        cheaper = [one for one in found["candidates"] if one["seconds"] < found["chosen"]["seconds"]]
        self.assertTrue(cheaper)
        self.assertEqual({one["removed_by"] for one in cheaper}, {"what only moves goes straight from rank to rank"})
        text = coset("why", *gather).stdout
        self.assertIn("\nchosen: the cheapest that no rule removes\n  a: what only moves goes straight", text)
        self.assertIn("\na ", text)
        self.assertIsNone(found["chosen"]["removed_by"])

    def test_the_chosen_plan_and_the_runner_up_are_measured_beside_the_model(self):
        found = why("allreduce", "64K", "--ranks", 2, "--measure")
        first, second = found["measured"]
        self.assertEqual(first["plan"].split("/")[0], found["chosen"]["algorithm"])
        self.assertNotEqual(first["plan"], second["plan"])
        for one in (first, second):
            for time in ("model", "call", "cycle"):
                self.assertGreater(one[time], 0)
            self.assertLess(one["added"] or 0, one["cycle"])  # null where it disappears in the ranks' own work
        self.assertIn("model/added", coset("why", "broadcast", 8, "--ranks", 2, "--measure").stdout)
        for elsewhere in (["--topology", "core:4 pu:1"], ["--hosts", "1,1"], ["--nodes", "2,2"]):
            refused = coset("why", "allreduce", *elsewhere, "--measure")
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))
            self.assertIn("--measure is for a collective, other than exclusive_scan, of compact ranks", refused.stderr)
        self.assertEqual(coset("why", "exclusive_scan", 8, "--measure").returncode, 2)

    @needs_lab
    def test_on_machines_that_are_not_here_two_plans_are_simulated(self):
        for machine in (["--ranks", 2], ["--topology", "package:2 l3:2 core:4 pu:1"], ["--topology", "core:8 pu:1", "--place", "scatter"]):
            found = why("allreduce", "64K", *machine, "--simulate")
            self.assertEqual(len(found["simulated"]), 2)
            self.assertEqual(found["simulated"][0]["plan"].split("/")[0], found["chosen"]["algorithm"])
            for one in found["simulated"]:
                self.assertGreater(min(one["model"], one["cycle"], one["call"]), 0, one)
        self.assertIn("in simulated caches", coset("why", "reduce", 8, "--topology", "core:4 pu:1", "--simulate").stdout)
        for elsewhere in (["--hosts", "1,1"], ["--nodes", "2,2"]):
            refused = coset("why", "allreduce", *elsewhere, "--simulate")
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))
            self.assertIn("--simulate is for a collective on a machine", refused.stderr)
        self.assertEqual(coset("why", "reduce_shared", 8, "--simulate").returncode, 2)

    def test_text_names_the_machine_the_terms_and_the_reason(self):
        text = coset("why", "allreduce", "1M", "--ranks", 12, "--topology", "node:2 core:6 pu:1").stdout
        for expected in ("allreduce of 1 MiB on 12 ranks, groups of 6", "ns a round", "rounds", "reaching", "\n> ",
                         "product(dims=6x2", "chosen: the cheapest"):
            self.assertIn(expected, text)
        prime = ["why", "allreduce", "1M", "--topology", "core:13 pu:1"]
        some, everything = coset(*prime).stdout, coset(*prime, "--all").stdout
        self.assertIn("more; --all shows them", some)
        self.assertGreater(len(everything.splitlines()), len(some.splitlines()) + 5)

    def test_operations_in_order_get_schedules_that_keep_it(self):
        prime = ["allreduce", "4K", "--topology", "core:31 pu:1"]
        self.assertEqual(why(*prime)["chosen"]["algorithm"].split("(")[0], "generalized")
        ordered = why(*prime, "--ordered")
        self.assertIn("ordered=1", ordered["chosen"]["algorithm"])
        names = {one["algorithm"] for one in ordered["candidates"]}
        self.assertFalse(any(name.startswith(("generalized", "circulant")) for name in names), names)

    def test_between_hosts_terms_sum_up_and_the_cheapest_is_chosen(self):
        hosts = ("1,1", "4,4,4,4", "2,1,3", ",".join("1" * 23))
        networks = ("20,3,1", "1.5,0.3,0.05", "100,80,8")
        for size, on, network in some((8, "4K", "1M", "64M"), hosts, networks, each=5):
            found = why("allreduce", size, "--hosts", on, "--network", network)
            for one in [found["chosen"], *found["candidates"]]:
                terms = sum(one[term] for term in ("inside", "rounds", "messages", "bytes", "combining"))
                self.assertAlmostEqual(terms, one["seconds"], places=12)
            full = [one for one in found["candidates"] if "nested=1" in one["algorithm"]]
            if "nested=1" in found["chosen"]["algorithm"]:
                self.assertEqual(found["chosen"]["seconds"], full[0]["seconds"])

    def test_between_hosts_numbers_have_limits(self):
        for hint, arguments in [("'nan' is not a number from 0 to 1e9", ["--hosts", "2,2", "--network", "nan,nan,nan"]),
                                ("the hosts hold 8589934590 ranks", ["--hosts", "4294967295,4294967295"])]:
            refused = coset("why", "allreduce", "1M", *arguments)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), arguments)
            self.assertIn(hint, refused.stderr)

    def test_text_between_hosts_names_the_network_and_segments(self):
        text = coset("why", "allreduce", "16M", "--hosts", "2,2,2,2", "--network", "20,5,8").stdout
        for expected in ("allreduce of 16 MiB on 8 ranks of 4 hosts", "5.0 us more for each further one", "segments of",
                         "leaders=0", "\n> ", "chosen: the cheapest"):
            self.assertIn(expected, text)

    def test_barriers_between_hosts_send_no_bytes(self):
        self.assertEqual(why("barrier", 64, "--hosts", "2,2")["bytes"], 0)

    def test_vectors_of_pieces_and_scans_between_hosts_have_candidates_too(self):
        for verb, name in [("scan", "two_level_scan("), ("exclusive_scan", "two_level_scan("),
                           ("reduce_scatter", "two_level("), ("allgather", "two_level(")]:
            text = coset("why", verb, "1M", "--hosts", "4,4,2").stdout
            for expected in (f"{verb} of 1 MiB on 10 ranks of 3 hosts", name, "leaders=0", "\n> "):
                self.assertIn(expected, text)

    def test_on_links_that_hosts_share_each_candidate_has_its_time_there(self):
        alone = self.file({"graph": [["switch", name] for name in "abcdef"], "ranks": [*"abcdef"]}, "alone")
        network = ["--network", "20,3,1"]
        found = why("allreduce", "1M", "--links", alone, *network)
        self.assertEqual((found["hosts"], found["switches"]), ([1] * 6, []))
        for one in found["candidates"]:  # nothing is shared but a host's own link
            if "product" in one["algorithm"]:
                self.assertAlmostEqual(one["on_links"], one["seconds"], delta=1e-9 + one["seconds"] * 1e-6, msg=one)
        ring = why("allreduce", "1M", "--links", self.file({"torus": [16], "ranks_per_host": 2}, "ring"), *network)
        self.assertEqual(ring["hosts"], [2] * 16)
        times = [one["on_links"] for one in ring["candidates"]]
        self.assertEqual(times, sorted(times))
        self.assertLess(ring["chosen"]["seconds"], ring["chosen"]["on_links"])  # messages between 16 hosts meet on a ring
        tree = self.file({"tree": {"top": ["left", "right"], "left": ["a", "b"], "right": ["c", "d"], "a": [0, 1], "b": [2, 3],
                                   "c": [4, 5], "d": [6, 7]}}, "tree")
        found = why("allreduce", "1M", "--links", tree)
        self.assertEqual((found["hosts"], found["switches"]), ([2] * 4, [2, 2]))
        self.assertIn("dims=2x2", found["chosen"]["algorithm"])
        text = coset("why", "allreduce", "1M", "--links", tree).stdout
        for one in found["candidates"]:
            self.assertAlmostEqual(one["over_bound"], one["on_links"] / one["bound"]["seconds"], 9)
            self.assertGreaterEqual(one["over_bound"], 1)
        for expected in ("   on links  over bound  ", "chosen, as if hosts shared no links: ", "; the cut that binds: all ranks\n"):
            self.assertIn(expected, text)
        for verb in ("reduce", "broadcast", "reduce_scatter", "allgather", "scan", "barrier"):
            self.assertGreater(why(verb, "64K", "--links", tree)["chosen"]["on_links"], 0, verb)

    def test_an_unknown_word_gets_all_that_can_be_explained(self):
        said = coset("why", "scatter_ad").stderr
        self.assertIn(f"'scatter_ad' is none of {', '.join(shapes())}, scatter_add, reduction, sparse_reduction", said)

    def test_sparse_reductions_send_the_least(self):
        def rounds(*arguments):
            found = why("sparse_reduction", *arguments)
            for one in found["rounds"]:
                allowed = one["ways"][:2] if one["updates_are_kept"] else one["ways"]
                chosen = [way for way in one["ways"] if way["way"] == one["chosen"]]
                self.assertEqual(chosen[0]["bytes"], min(way["bytes"] for way in allowed), arguments)
            return found["rounds"]
        kept, copies = rounds("--hosts", "2,2", "--length", "64M", "--updates", 100000)
        self.assertEqual((kept["chosen"], kept["ways"][0]["bytes"]), ("each rank's own", 100000 * 12))
        self.assertEqual(copies["chosen"], "folded in each process first")
        self.assertAlmostEqual(copies["ways"][1]["bytes"] / (100000 * 80), 1, delta=0.01)
        # A window of 1,024 lines: each thread touches all of them.
        copies = rounds("--hosts", "4,4,4", "--length", "64M", "--updates", "12M", "--window", 8192)[1]
        self.assertEqual([way["bytes"] for way in copies["ways"][:2]], [12 * 1024 * 80 * 2, 3 * 1024 * 80 * 2])
        many = rounds("--hosts", "2,2", "--length", "64M", "--updates", "100M")  # more than a quarter of a copy in each thread
        self.assertEqual([one["chosen"] for one in many], ["the whole array"])
        short = rounds("--hosts", "2,2", "--length", 4096, "--updates", 100000)
        self.assertEqual([one["chosen"] for one in short], ["the whole array"])
        few = ["--hosts", "2,2", "--length", "64M", "--updates", 9]
        text = coset("why", "sparse_reduction", *few, "--network", "0,0,2").stdout
        self.assertEqual(text.count(">"), 1, text)  # of rounds that come
        for expected in ("a process", "bytes of all", "all rounds: updates are kept", "for comparison: copies"):
            self.assertIn(expected, text)
        for wrong in (["--length", 9, "--updates", 9], ["--hosts", "2,2", "--length", 9], [*few, "--keys", "zipf"],
                      [*few, "--network", "20,3,1"], ["1M", *few], [*few, "--most-bytes", 9], [*few, "--in-place"],
                      [*few, "--ranks", 4], [*few, "--value-bytes", 4], [*few, "--all"]):
            self.assertEqual(coset("why", "sparse_reduction", *wrong).returncode, 2, wrong)
        self.assertEqual(coset("why", "scatter_add", *few).returncode, 2)

    def test_reductions_are_those_of_their_processes(self):
        for hosts, expected in ("1,1,1", "allreduce"), ("2,1", "reduce_shared"):
            self.assertEqual(why("reduction", "1M", "--hosts", hosts)["collective"], expected)

    def test_what_makes_no_sense_is_refused(self):
        for hint, arguments in [("sum", ["sum"]), ("hold 7 ranks, not 9", ["allreduce", 8, "--nodes", "5,2", "--ranks", 9]),
                                ("excludes", ["allreduce", 8, "--nodes", "5,2", "--topology", "core:2 pu:1"]),
                                ("excludes", ["allreduce", 8, "--nodes", "5,2", "--hosts", "5,2"]),
                                ("one host", ["allreduce", 8, "--hosts", "5"]),
                                ("hold 7 ranks, not 9", ["allreduce", 8, "--hosts", "5,2", "--ranks", 9]),
                                ("hosts", ["allreduce", 8, "--network", "20,3,1"]),
                                ("one host", ["allreduce", 8, "--links", self.file({"torus": [1]})]),
                                ("consecutive", ["allreduce", 8, "--links", self.file({"graph": [["a", "b"]], "ranks": ["a", "b", "a"]}, "a")]),
                                ("257 hosts", ["allreduce", 8, "--links", self.file({"torus": [257]}, "b")]),
                                ("excludes", ["allreduce", 8, "--hosts", "5,2", "--links", "x.json"]),
                                ("cannot be read", ["allreduce", 8, "--links", "/nowhere.json"]),
                                ("lots", ["allreduce", "lots"])]:
            refused = coset("why", *arguments)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), arguments)
            self.assertIn(hint, refused.stderr)


if __name__ == "__main__":
    unittest.main()
