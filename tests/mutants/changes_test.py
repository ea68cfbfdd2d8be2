# SPDX-License-Identifier: Apache-2.0
"""Which changes mutants make, and which they leave alone."""
import re
import tempfile
import unittest
from pathlib import Path

from changes import changes_of, names_of
import runs
from explained import Explained
from mutate import judge, mutants_of

SOURCE = """\
namespace a {
struct pair { int first = 1 + 2; };
template <class T> bool less(T a, T b) { return a < b; }
auto const twice = [](int a) -> std::vector<int> { return {a, a + 1}; };
void f(std::vector<int> const& v, bool last) {
  int const n = g(v) - 1;  // a - b
  if (n == 3 && !last) [[unlikely]]
    h(v);
  for (int i = 0; i < n; ++i) { k(i, [&] { m(i); }); }
  if (auto const found = find(v)) return;
  if (n == 4) { h(v), last = true; } else c = "a < b";
  word.store(1, std::memory_order_release);
  switch (n) { case 1: p(); break; default: q(std::max(n, 2)); }
}
}  // namespace a
"""


def made(before, after):
    return [c.of(SOURCE) for c in changes_of(SOURCE) if SOURCE.replace(before, after, 1) == c.of(SOURCE)] != []


class Changes(unittest.TestCase):
    def test_are_these(self):
        for before, after in [
            ("a < b", "a <= b"), ("a + 1", "a - 1"), ("g(v) - 1", "g(v) + 1"),
            ("n == 3 && !last", "!(n == 3 && !last)"), ("n == 3", "n != 3"), ("&&", "||"),
            ("    h(v);", "    ;"), ("i < n", "i <= n"), ("k(i, [&] { m(i); });", ";"), ("m(i);", ";"),
            ("find(v)) return;", "find(v)) ;"),
            ("h(v), last = true;", ";"), ("true", "false"), ('c = "a < b";', ";"),
            ("word.store(1, std::memory_order_release);", ";"), ("p();", ";"), ("break;", ";"),
            ("q(std::max(n, 2));", ";"), ("std::max", "std::min"),
        ]:
            self.assertTrue(made(before, after), f"{before} -> {after}")

    def test_are_no_others(self):
        changed = {c.before for c in changes_of(SOURCE)}
        self.assertFalse(any("pair" in line for line in changed), "only what is executed")
        self.assertFalse(made("int const n = g(v) - 1;", ";"), "declarations stay")
        self.assertFalse(made("auto const found = find(v)", "!(auto const found = find(v))"))
        self.assertFalse(made("n == 4", "!(n == 4)"), "n != 4 is the same")
        self.assertFalse(made("std::vector<int>", "std::vector<=int>"))
        self.assertFalse(any(re.search("a <= b\"|a . b$", c.after) for c in changes_of(SOURCE)), "no text, no comments")
        self.assertEqual(len({c.of(SOURCE) for c in changes_of(SOURCE)}), len(changes_of(SOURCE)), "each once")


NAMED = """\
struct patience : waits<int> { bool operator()(int looks) const { return looks < spins_; } };
team::team(int ranks) : places_(made_of([&](int rank) { note(rank); })) { settle(ranks); }
std::vector<int> worker<void>::rows(std::vector<int> const& all, int first) const try {
  int const last = all.size() - 1, half = last / 2;
  if (first == last) return {};
  for (auto const& [row, number] : all) {
    if (number < first) continue;
    run([row, &all] { all.at(row).push_back(true); });
    lines->shared.told.store(row + half, std::memory_order_release);
  }
  first = limit;
  half = 0;
  return all;
} catch (failure const& e) {
  throw other(e);
}
auto const twice = [](int a) -> std::vector<int> { return {a, a + 1}; };
"""


def names(text):
    return list(names_of(changes_of(text)))


class Names(unittest.TestCase):
    def test_are_functions_and_what_lasts_in_them(self):
        self.assertEqual(names(NAMED), [
            "patience::operator(): < -> <= at spins_", "team::team: removes note", "team::team: removes settle",
            "worker::rows: - -> + at size", "worker::rows: == -> !=", "worker::rows: removes return",
            "worker::rows: negates", "worker::rows: < -> <=", "worker::rows: removes continue", "worker::rows: removes run",
            "worker::rows: removes at.push_back", "worker::rows: true -> false at at.push_back",
            "worker::rows: removes told.store", "worker::rows: + -> - at told.store",
            "worker::rows: removes statement at limit", "worker::rows: removes statement",
            "worker::rows: removes throw other", "twice: + -> -"])

    def test_outlive_layout_locals_and_moves(self):
        given = names(NAMED)
        for before, after in [(r"\b(if|for) \((.*)\)( \{)?", r"\1 (\2)\n     \3"),
                              (r"\b(all|first|last|half|row|number|looks|e)\b", r"\1s"),
                              (r"(\w+::team(.*\n)+?)(std::vector<int> worker(.*\n)+^}\n)", r"\3// more\n\1")]:
            changed = re.sub(before, after, NAMED, flags=re.M)
            self.assertNotEqual(changed, NAMED)
            self.assertEqual(sorted(names(changed)), sorted(given))

    def test_of_those_alike_say_how_many_there_are(self):
        two = "void f() { g(1); h(); g(2); }"
        self.assertEqual(names(two), ["f: removes g (1 of 2)", "f: removes h", "f: removes g (2 of 2)"])
        one_more = set(names(two.replace("h();", "g(3); h();")))
        self.assertEqual(one_more & set(names(two)), {"f: removes h"}, "nobody knows which is the new one")


class Explanations(unittest.TestCase):
    def explained(self, text):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "explained.txt"
            file.write_text(text)
            return Explained(file)

    def test_are_found_by_name(self):
        given = self.explained("# why\nsrc/a.cpp\n- f: removes g; negates h (1 of 2)\n- f: < -> <= at x\n= nobody reads it\n\n"
                               "- a::b: *\n= only faster\nsrc/b.cpp\n- c: removes d\n= gone\n")

        def reason(file, name):
            change = type("change", (), {"function": name.split(": ")[0]})
            return given.reason_for(type("mutant", (), {"file": file, "name": name, "change": change}))

        self.assertEqual(reason("src/a.cpp", "f: negates h (1 of 2)"), "nobody reads it")
        self.assertEqual(reason("src/a.cpp", "f: < -> <= at x"), "nobody reads it")
        self.assertEqual(reason("src/a.cpp", "a::b: whatever"), "only faster")
        for other in ["f: negates h", "f: negates h (2 of 2)", "f: negates h (1 of 3)", "b: removes g"]:
            self.assertIsNone(reason("src/a.cpp", other), other)
        self.assertIsNone(reason("src/b.cpp", "f: removes g"))
        self.assertEqual([text.split("explained.txt", 1)[1] for text in given.unused()],
                         [":3: src/a.cpp: f: removes g, as 'nobody reads it'", ":10: src/b.cpp: c: removes d, as 'gone'"])

    def test_need_a_form(self):
        for text, error in [("src/a.cpp\n= of what\n", ":2: .* out of place"), ("src/a.cpp\n- f\n= why\n", ":2: .* out of place"),
                            ("- f: negates\n= where\n", ":1: .* out of place"), ("src/a.cpp\n+ f: x\n", ":2: .* out of place"),
                            ("src/a.cpp\n- f: negates\n", ":2: 'f: negates' has no reason"),
                            ("src/a.cpp\n- f: negates\n\nsrc/b.cpp\n", ":4: .* out of place"),
                            ("src/a.cpp\n- f: x\n= a\n- f: y; x\n= b\n", ":4: 'f: x' has a reason in line 2")]:
            with self.assertRaisesRegex(SystemExit, error):
                self.explained(text)

    def test_of_this_project_are_of_mutants_that_there_are(self):
        given = Explained(Path(__file__).parent / "explained.txt")
        for file in dict.fromkeys(file for file, _ in given.reasons):
            for mutant in mutants_of(file):
                given.reason_for(mutant)
        self.assertEqual(given.unused(), [])


class Runs(unittest.TestCase):
    def test_end_where_they_hang_for_what_they_usually_take(self):
        with tempfile.TemporaryDirectory() as place:
            quick = Path(place) / "quick"
            quick.write_text("#!/bin/sh\n[ $AS = ctest ] && [ $1 = some ]\n")
            hanging = Path(place) / "hanging"
            hanging.write_text("#!/bin/sh\nsleep 1000\n")
            for file in quick, hanging:
                file.chmod(0o700)
            test = runs.Test("a", (str(quick), "some"), ("AS=ctest",))
            other = runs.Test("b", (str(quick), "other"), ("AS=ctest",))
            tried = runs.Runs(place, longest=500)
            self.assertEqual([tried.run(test, quick), tried.run(other, quick)], ["passed", "failed"])
            runs.FASTEST = 0.1
            self.assertEqual(tried.run(test, hanging), "timeout")

    def test_of_one_binary_link_it_once(self):
        class Build:
            linked = []

            def compile(self, source, to, text):
                return True

            def link(self, binary, objects, to):
                self.linked.append(binary.name)
                to.write_text('#!/bin/sh\n[ "$1" != broken ]\n')
                to.chmod(0o700)

        tests = [runs.Test(name, (f"/tests/{binary}", name), ()) for name, binary in
                 [("one", "a"), ("two", "b"), ("three", "a"), ("broken", "b"), ("four", "c")]]
        with tempfile.TemporaryDirectory() as place:
            mutant = type("mutant", (), {"file": "src/a.cpp", "text": ""})
            verdict = judge(Build(), mutant, Path(place) / "job", tests, runs.Runs(place, longest=500))
        self.assertEqual((verdict, Build.linked), (("failed", "broken"), ["a", "b"]))


if __name__ == "__main__":
    unittest.main()
