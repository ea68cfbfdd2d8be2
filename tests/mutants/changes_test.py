# SPDX-License-Identifier: Apache-2.0
"""Which changes mutants make, and which they leave alone."""
import re
import tempfile
import unittest
from pathlib import Path

from changes import changes_of
from explained import Explained

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


class Explanations(unittest.TestCase):
    def explained(self, text):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "explained.txt"
            file.write_text(text)
            return Explained(file)

    def test_are_found_by_the_text_of_the_line(self):
        given = self.explained("# why\nsrc/a.cpp\n- x = 1;\n+ ;\n+ y;\n= nobody reads it\n\n- z();\n+ *\n= only faster\n")

        def reason(file, before, after):
            change = type("change", (), {"before": before, "after": after})
            return given.reason_for(type("mutant", (), {"file": file, "change": change}))

        self.assertEqual(reason("src/a.cpp", "x = 1;", "y;"), "nobody reads it")
        self.assertEqual(reason("src/a.cpp", "z();", "whatever"), "only faster")
        self.assertIsNone(reason("src/a.cpp", "x = 1;", "z;"))
        self.assertIsNone(reason("src/b.cpp", "x = 1;", ";"))
        self.assertEqual(given.unused(), ["src/a.cpp | x = 1; | ;"])

    def test_need_a_form(self):
        with self.assertRaises(SystemExit):
            self.explained("src/a.cpp\n+ ;\n= no line before\n")

    def test_of_this_project_have_it(self):
        Explained(Path(__file__).parent / "explained.txt")


if __name__ == "__main__":
    unittest.main()
