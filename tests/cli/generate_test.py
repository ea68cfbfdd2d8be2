#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coset generate: plans in other programs' languages, run by readers of these languages that share nothing with the
library; and plans of other programs, read by coset.

    generate_test.py COSET [unittest's arguments]
"""
import collections
import fractions
import json
import os
import random
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

import check_plan
from command import LONG, SMALL, VERBS, Files, coset, listed, needed
from definitions import counts_of, definition, shape

HERE = os.path.dirname(os.path.abspath(__file__))
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def libraries():
    """The suffixes of the MPI libraries here."""
    found = [s for s in (".openmpi", ".mpich") if shutil.which("mpicc" + s) and shutil.which("mpiexec" + s)]
    return found or ([""] if shutil.which("mpicc") and shutil.which("mpiexec") else [])


def plan_of(*arguments):
    return json.loads(coset("plan", *arguments, "--json").stdout)


def kind_of(verb):
    """What generated_main.c calls verbs with the same parameters."""
    of = shape(verb)
    if of.meets:
        return "meet"
    if of.folds:
        return "fold_rooted" if of.rooted else "fold"
    if not of.pieces:
        return "spread"
    return "move_from_root" if of.from_root else "move_rooted" if of.rooted else "move"


def defined(verb, ranks, root):
    """The definition in C: with two arrays on each rank, then with one."""
    def of_rank(one):
        parts = ", ".join("{%s}" % ", ".join(map(str, part)) for part in one.parts)
        return "{%d, %d, %d, %d, %d, %d, {%s}}" % (one.one, one.in_at[0], *one.gives, one.keeps, len(one.parts), parts or "{0}")
    ways = [definition(verb, counts_of(verb, ranks, 1), root, in_place) for in_place in (False, True)]
    return ("static definition of_%s[2][most_ranks] = {\n%s};\n" % (
        verb, ",\n".join("{%s}" % ",\n ".join(map(of_rank, way)) for way in ways)))


class Routines(Files):
    ALGORITHMS = ["direct", "direct(saved_steps=1)", "ring", "generalized(radix=3)", "generalized(saved_steps=1)", "latency",
                  "binomial", "recursive_doubling", "bruck_ho(n=2)", "dilated(ordered=1)", "elimination_3_2", "unequal"]

    def write_cases(self, algorithms, ranks):
        """A C file for each algorithm and collective that is defined on so many ranks, and the list of them."""
        cases, sources, verbs, root = [], [], set(), ranks // 2
        for algorithm in algorithms:
            for verb in VERBS:
                wanted = [needed(algorithm, ranks), "-r", ranks, "-c", verb, "--root", root]
                name = f"routine_{len(sources)}"
                made = coset("generate", "mpi", *wanted, "--name", name)
                if made.returncode == 2:
                    continue
                self.assertEqual((made.returncode, made.stderr), (0, ""), wanted)
                ordered = plan_of(*wanted)["properties"]["ordered"]
                verbs.add(verb)
                of_root = root if shape(verb).rooted else -1
                cases.append(f"CASE({kind_of(verb)}, of_{verb}, {name}, {of_root}, {int(ordered)})  /* {algorithm} */\n")
                sources.append(os.path.join(self.folder, name + ".c"))
                with open(sources[-1], "w") as out:
                    out.write(made.stdout)
        with open(os.path.join(self.folder, "cases.h"), "w") as out:
            out.writelines(cases)
        with open(os.path.join(self.folder, "definitions.h"), "w") as out:
            out.writelines(defined(verb, ranks, root) for verb in sorted(verbs))
        self.assertEqual(verbs, set(VERBS))
        return sources

    @unittest.skipUnless(libraries(), "no MPI here")
    def test_generated_routines_compute_over_mpi(self):
        shapes = (3,) if SMALL else (5, 2, 6, 3, 1, 7) if LONG else (5, 2)  # MPICH's ranks spin: no more than processors
        for at, ranks in enumerate(shapes):
            library = libraries()[(at + at // 2) % len(libraries())]
            sources = self.write_cases(self.ALGORITHMS[1 - at % 2 :: 4 if SMALL else 2], ranks)
            self.assertGreater(len(sources), 15)
            program = os.path.join(self.folder, "program")
            subprocess.run(["mpicc" + library, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", self.folder,
                            *sources, os.path.join(HERE, "generated_main.c"), "-o", program], check=True)
            ran = subprocess.run(["mpiexec" + library, "-n", str(ranks), program], timeout=120, capture_output=True,
                                 text=True, env={**os.environ, **AS_ROOT})
            self.assertEqual((ran.returncode, ran.stdout), (0, ""), ran.stderr)

    def test_routines_are_named_after_what_they_do(self):
        self.assertIn("int ring_allreduce(const void *in", coset("generate", "mpi", "ring", "-r", 3).stdout)
        plan = plan_of("ring", "-r", 3)
        plan["algorithm"] = "*/ 2nd\u202e\u009b"
        plan["parameters"] = {"why": "*/ int main"}
        text = coset("generate", "mpi", self.file(plan)).stdout
        self.assertIn("int plan____2nd", text)
        self.assertTrue(text.isascii())
        self.assertEqual(text.count("/*"), text.count("*/"))
        refused = coset("generate", "mpi", "ring", "-r", 3, "--name", "a-b")
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertIn("no name of a C function", refused.stderr)
        for name in ["run", "int", "copy", "fold", "start", "call", "table_0", "RANKS", "MPI_Reduce"]:
            refused = coset("generate", "mpi", "ring", "-r", 3, "--name", name)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), name)
            self.assertIn("is a word of C or of the text", refused.stderr)

    def test_what_is_wrong_or_counts_twice_is_not_generated(self):
        plan = plan_of("ring", "-r", 3)
        plan["steps"][0][0]["from"][1][0] ^= 2
        for language in ("mpi", "goal", "replay", "msccl"):
            wrong = coset("generate", language, self.file(plan))
            self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))
            self.assertIn("step 0", wrong.stderr)
            self.assertEqual(coset("generate", language, "butterfly", "-r", 3).returncode, 2)


def bytes_by_step(plan, size):
    """[step][(from, to)]: bytes of what `to` reads of `from` and has not read before, as Plan JSON says."""
    ends = [fractions.Fraction(b["offset"]) for b in plan["blocks"]] + [fractions.Fraction(1)]
    begins = [int(size * end) for end in ends]
    read, all_steps = set(), []
    for step in plan["steps"]:
        sent = collections.Counter()
        for a in step:
            for rank, slot in a["from"]:
                value = (a["rank"], rank, a["block"], slot)
                if rank != a["rank"] and value not in read:
                    read.add(value)
                    sent[rank, a["rank"]] += begins[a["block"] + 1] - begins[a["block"]]
        all_steps.append({ends: max(1, n) for ends, n in sent.items()})
    return all_steps


class Simulators(Files):
    SHAPES = [("ring", 4), ("direct", 5), ("generalized(saved_steps=1)", 7), ("binomial", 6), ("recursive_doubling", 5)]

    def test_goal_programs_end_and_take_the_rounds_of_the_plan(self):
        for algorithm, ranks in self.SHAPES:
            with self.subTest(algorithm=algorithm):
                plan = plan_of(algorithm, "-r", ranks)
                text = coset("generate", "goal", algorithm, "-r", ranks, "-b", 1000, "--combine", 2).stdout
                sent, makespan, computed = self.run_goal(text)
                expected = collections.Counter()
                for step, messages in enumerate(bytes_by_step(plan, 1000)):
                    for (source, target), size in messages.items():
                        expected[source, target, step, size] += 1
                self.assertEqual(sent, expected)
                self.assertLessEqual(makespan, plan["properties"]["steps"])
                if algorithm not in ("binomial", "recursive_doubling"):  # where ranks begin a step when they can
                    self.assertEqual(makespan, plan["properties"]["steps"])
                most = fractions.Fraction(plan["properties"]["combined_max"]) * 1000 * 2
                self.assertLessEqual(abs(max(computed) - most), 2 * 2 * len(plan["blocks"]))

    def run_goal(self, text):
        """Messages sent, when the last rank ends if a message takes a time of 1 and all else none, and what each computes."""
        lines = text.splitlines()
        self.assertRegex(lines[0], r"^num_ranks \d+$")
        programs, computed = [], []
        for line in lines[1:]:
            if line.startswith("rank "):
                self.assertEqual(line, f"rank {len(programs)} {{")
                programs.append({})
                computed.append(0)
            elif match := re.fullmatch(r"l(\d+): (?:(send|recv) (\d+)b (?:to|from) (\d+) tag (\d+)|calc (\d+))", line):
                label, kind, size, peer, tag, calc = match.groups()
                programs[-1][int(label)] = [kind, int(size or 0), int(peer or 0), int(tag or 0), []]
                computed[-1] += int(calc or 0)
            elif match := re.fullmatch(r"l(\d+) requires l(\d+)", line):
                programs[-1][int(match[1])][4].append(int(match[2]))
            else:
                self.assertIn(line, ("", "}"))
        done = [{} for _ in programs]
        arriving = collections.defaultdict(collections.deque)
        sent = collections.Counter()
        advanced = True
        while advanced:
            advanced = False
            for rank, program in enumerate(programs):
                for label, (kind, size, peer, tag, needs) in program.items():
                    if label in done[rank] or any(n not in done[rank] for n in needs):
                        continue
                    ready = max((done[rank][n] for n in needs), default=0)
                    if kind == "recv":
                        queue = arriving[peer, rank, tag]
                        if not queue:
                            continue
                        when, sent_size = queue.popleft()
                        self.assertEqual(size, sent_size)
                        ready = max(ready, when)
                    elif kind == "send":
                        arriving[rank, peer, tag].append((ready + 1, size))
                        sent[rank, peer, tag, size] += 1
                    done[rank][label] = ready
                    advanced = True
        for rank, program in enumerate(programs):
            self.assertEqual(len(done[rank]), len(program), f"rank {rank} waits for ever")
        self.assertFalse(any(arriving.values()), "messages that nobody receives")
        return sent, max(when for rank in done for when in rank.values()), computed

    def test_traces_end_with_the_messages_of_the_plan(self):
        for algorithm, ranks in self.SHAPES:
            with self.subTest(algorithm=algorithm):
                text = coset("generate", "replay", algorithm, "-r", ranks, "-b", 1000, "--combine", 0.5).stdout
                programs = [[line.split()[1:] for line in text.splitlines() if line.split()[0] == str(r)] for r in range(ranks)]
                sent = self.run_trace(programs)
                expected = collections.Counter()
                for step, messages in enumerate(bytes_by_step(plan_of(algorithm, "-r", ranks), 1000)):
                    for (source, target), size in messages.items():
                        expected[source, target, step, size] += 1
                self.assertEqual(sent, expected)

    def run_trace(self, programs):
        at, sent, arrived = [0] * len(programs), collections.Counter(), collections.Counter()
        awaited = [[] for _ in programs]
        advanced = True
        while advanced:
            advanced = False
            for rank, program in enumerate(programs):
                while at[rank] < len(program):
                    action, *numbers = program[at[rank]]
                    if action == "isend":
                        peer, tag, size = map(int, numbers)
                        sent[rank, peer, tag, size] += 1
                        arrived[rank, peer, tag, size] += 1
                    elif action == "irecv":
                        peer, tag, size = map(int, numbers)
                        awaited[rank].append((peer, rank, tag, size))
                    elif action == "waitall":
                        if any(arrived[m] == 0 for m in awaited[rank]):
                            break
                        for m in awaited[rank]:
                            arrived[m] -= 1
                        awaited[rank] = []
                    else:
                        self.assertIn(action, ("init", "compute", "finalize"))
                    at[rank] += 1
                    advanced = True
        for rank, program in enumerate(programs):
            self.assertEqual(at[rank], len(program), f"rank {rank} waits for ever")
            self.assertEqual((program[0], program[-1]), (["init"], ["finalize"]))
        self.assertEqual(sum(arrived.values()), 0)
        return sent


class Gpus:
    """Runs an MSCCL algorithm on sets of (rank, chunk), thread blocks in any order that connections and dependencies allow."""

    def __init__(self, text, order):
        self.algo = xml.etree.ElementTree.fromstring(text)
        self.ranks, self.chunks = int(self.algo.get("ngpus")), int(self.algo.get("nchunksperloop"))
        self.coll, self.order = self.algo.get("coll"), order
        self.own = self.chunks // self.ranks
        self.memory = []
        for r in range(self.ranks):
            gathers = self.coll == "allgather"
            first = r * self.own if gathers else 0
            self.memory.append({("i", c): {(r, first + c)} for c in range(self.own if gathers else self.chunks)})
        self.run()

    def run(self):
        blocks, queues = {}, collections.defaultdict(collections.deque)
        for gpu in self.algo:
            for tb in gpu:
                blocks[int(gpu.get("id")), int(tb.get("id"))] = [tb, 0]
        advanced = True
        while advanced:
            advanced = False
            for key in self.order.sample(sorted(blocks), len(blocks)):
                while self.step(key, blocks, queues):
                    advanced = True
                    if self.order.random() < 0.5:
                        break
        for key, (tb, done) in blocks.items():
            assert done == len(tb), f"thread block {key} waits for ever"
        assert not any(queues.values()), "chunks that nobody receives"

    def step(self, key, blocks, queues):
        tb, done = blocks[key]
        if done == len(tb):
            return False
        now, gpu, memory = tb[done], key[0], self.memory[key[0]]
        if (dep := int(now.get("depid"))) >= 0:
            assert blocks[gpu, dep][0][int(now.get("deps"))].get("hasdep") == "1"
            if blocks[gpu, dep][1] <= int(now.get("deps")):
                return False
        kind, count = now.get("type"), int(now.get("cnt"))
        source = [(now.get("srcbuf"), int(now.get("srcoff")) + c) for c in range(count)]
        target = [(now.get("dstbuf"), int(now.get("dstoff")) + c) for c in range(count)]
        if kind == "r":
            queue = queues[int(tb.get("recv")), gpu, tb.get("chan")]
            if not queue:
                return False
            memory.update(zip(target, queue.popleft(), strict=True))
        elif kind == "s":
            queues[gpu, int(tb.get("send")), tb.get("chan")].append([memory[at] for at in source])
        elif kind == "cpy":
            memory.update({to: memory[at] for at, to in zip(source, target)})
        elif kind == "re":
            for at, to in zip(source, target):
                assert not memory[to] & memory[at]
                memory[to] = memory[to] | memory[at]
        else:
            assert kind == "nop"
        blocks[key][1] += 1
        return True

    def is_right(self):
        for r, memory in enumerate(self.memory):
            for c in range(self.own if self.coll == "reducescatter" else self.chunks):
                chunk = c + r * self.own if self.coll == "reducescatter" else c
                of = [chunk // self.own] if self.coll == "allgather" else range(self.ranks)
                if memory.get(("o", c)) != {(rank, chunk) for rank in of}:
                    return False
        return True


def step_xml(kind, source, target, number):
    return (f'<step s="{number}" type="{kind}" srcbuf="i" srcoff="{source}" dstbuf="i" dstoff="{target}" cnt="1" '
            'depid="-1" deps="-1" hasdep="0"/>')


def ring_xml(ranks):
    """An allreduce in place as MSCCL's own compiler writes them, with its fused instructions."""
    gpus = ""
    for r in range(ranks):
        steps = ""
        for i in range(2 * ranks - 1):
            chunk = (r - i) % ranks
            kind = "s" if i == 0 else "rrs" if i < ranks - 1 else "rrcs" if i == ranks - 1 else "rcs" if i < 2 * ranks - 2 else "r"
            steps += step_xml(kind, chunk, chunk, i)
        gpus += (f'<gpu id="{r}" i_chunks="{ranks}" o_chunks="0" s_chunks="0"><tb id="0" send="{(r + 1) % ranks}" '
                 f'recv="{(r - 1) % ranks}" chan="0">{steps}</tb></gpu>\n')
    return (f'<?xml version="1.0"?>\n<!-- a ring -->\n<algo name="ring" nchunksperloop="{ranks}" nchannels="1" proto="LL" '
            f'ngpus="{ranks}" coll="allreduce" inplace="1">{gpus}</algo>\n')


class Msccl(Files):
    def xml(self, text):
        path = os.path.join(self.folder, "algorithm.xml")
        with open(path, "w") as out:
            out.write(text)
        return path

    def test_algorithms_reduce_and_gather_in_any_order_of_thread_blocks(self):
        checked = 0
        for name in listed():
            for ranks in (3,) if SMALL else (1, 2, 5):
                for verb in ("allreduce", "reduce_scatter", "allgather") if ranks > 1 or LONG else ("allreduce",):
                    made = coset("generate", "msccl", needed(name, ranks), "-r", ranks, "-c", verb)
                    if made.returncode == 2:
                        continue
                    with self.subTest(name=name, ranks=ranks, verb=verb):
                        for seed in range(3) if LONG else (checked,):
                            self.assertTrue(Gpus(made.stdout, random.Random(seed)).is_right(), seed)
                        checked += 1
        self.assertGreater(checked, 30 if SMALL else 100)

    def test_the_reader_that_judges_can_find_fault(self):
        text = coset("generate", "msccl", "ring", "-r", 3).stdout
        self.assertFalse(Gpus(text.replace('type="re"', 'type="cpy"', 1), random.Random(1)).is_right())

    def test_what_is_generated_is_read_again(self):
        for name, ranks, verb in [("ring", 4, "allreduce"), ("generalized(saved_steps=1)", 7, "allreduce"),
                                  ("direct", 3, "reduce_scatter"), ("generalized", 5, "allgather")]:
            with self.subTest(name=name, ranks=ranks, verb=verb):
                path = self.xml(coset("generate", "msccl", name, "-r", ranks, "-c", verb).stdout)
                plan, original = plan_of(path), plan_of(name, "-r", ranks, "-c", verb)
                check_plan.check(plan)
                for figures in (plan["properties"], original["properties"]):
                    del figures["fan_in"]  # what is read comes as early as it can
                self.assertEqual(plan["properties"], original["properties"])

    def test_fused_instructions_are_those_of_a_ring(self):
        for ranks in (2, 3, 5):
            plan, ring = plan_of(self.xml(ring_xml(ranks))), plan_of("ring", "-r", ranks)
            check_plan.check(plan)
            for figure in ("steps", "sent_max", "received_max", "combined_max", "fan_in", "rank_uniform"):
                self.assertEqual(plan["properties"][figure], ring["properties"][figure], figure)

    def test_algorithms_with_one_wrong_number_are_refused_or_right(self):
        text, refused, right, changes = ring_xml(3), 0, 0, []
        for match in re.finditer(r'(type|srcoff|dstoff|send|recv|chan|cnt|id|coll|ngpus|inplace)="([^"]*)"', text):
            others = {"type": ("s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re", "nop", "what"),
                      "coll": ("allgather", "reducescatter", "alltoall")}.get(match[1], ("-1", "0", "1", "2", "3", "x"))
            changes += [text[: match.start(2)] + other + text[match.end(2) :] for other in others]
        for changed in random.Random(1).sample(changes, 40 if SMALL else 150):
            result = coset("plan", "--plan", self.xml(changed), "--json")
            if result.returncode == 0:
                check_plan.check(json.loads(result.stdout))
                right += 1
            else:
                self.assertIn(result.returncode, (1, 2), result.stderr)
                self.assertNotEqual(result.stderr, "")
                refused += 1
        self.assertGreater(refused, 20)
        self.assertGreater(right, 2)

    def test_what_is_no_algorithm_is_refused_with_the_reason(self):
        good = ring_xml(2)
        for part, instead, reason in [
            (good, "", "line 1: '<' is missing"), (good, "{}", "line 1: '<' is missing"), ("</algo>", "", "'<' is missing"),
            ("</gpu>", "</cpu>", "'gpu' is missing"), (" ngpus=", " cpus=", "<algo> has no ngpus"),
            ('ngpus="2"', 'ngpus="3"', "there is no gpu 2"), ('ngpus="2"', 'ngpus="&gt;"', "entities are not read"),
            ('id="1"', 'id="0"', "gpu 0 is there twice"), ('coll="allreduce"', 'coll="alltoall"', "coll is 'alltoall'"),
            ('chan="0"', 'chan="1"', "waits for ever"), ("<algo ", "<algo a='1' a='2' ", "a is given twice"),
            ('ngpus="2"', 'ngpus="70000"', "not a whole number below 65536"),
            ('nchunksperloop="2"', 'nchunksperloop="0"', "no chunks"),
        ]:
            result = coset("plan", "--plan", self.xml(good.replace(part, instead, 1)))
            self.assertEqual((result.returncode, result.stdout), (2, ""), instead)
            self.assertIn("is no algorithm of MSCCL that can be read: ", result.stderr)
            self.assertIn(reason, result.stderr)

    def test_what_moves_too_much_is_refused_before_it_is_followed(self):
        chunks = 1 << 19
        steps = "".join(f'<step s="{i}" type="cpy" srcbuf="i" srcoff="0" dstbuf="s" dstoff="{i * chunks}" cnt="{chunks}" '
                        'depid="-1" deps="-1" hasdep="0"/>' for i in range(17))
        result = coset("plan", "--plan", self.xml(f'<algo coll="allreduce" ngpus="1" nchunksperloop="{chunks}" inplace="1"><gpu id="0">'
                                        f'<tb id="0" send="0" recv="0" chan="0">{steps}</tb></gpu></algo>'))
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("its steps move more than 8388608 chunks", result.stderr)

    def test_other_collectives_and_what_does_not_fit_are_refused(self):
        for arguments, reason in [(["binomial", "-r", 4, "-c", "reduce"], "has no MSCCL form"),
                                  (["ring", "-r", 200], "instructions in a thread block at most")]:
            result = coset("generate", "msccl", *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(reason, result.stderr)


if __name__ == "__main__":
    unittest.main()
