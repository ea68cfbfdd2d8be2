#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That members.py counts public data members, and that no class has too many."""
import unittest

import members


def count(text):
    return dict(members.classes_in(text))


class Members(unittest.TestCase):
    def test_data_are_counted_with_all_their_names(self):
        self.assertEqual(count("struct a { int x, y = 2; std::map<int, long> z{1, 2}; };")["a"], 3)
        self.assertEqual(count("struct a { b& c; d const* e = nullptr; void (*call)(int, long); };")["a"], 3)
        self.assertEqual(count("struct alignas(64) a final : b<c> { std::array<int, 2> x{}; };")["a"], 1)

    def test_functions_types_and_constants_are_not(self):
        text = """struct a {
          a(int x, int y) : x_(x), y_{y} {}
          ~a();
          int f(int x) const { int inside = x; return inside; }
          bool operator==(a const&) const = default;
          using t = int;
          static constexpr int most = 3;
          enum class kind { one, two };
          // int commented_out;
        };"""
        self.assertEqual(count(text)["a"], 0)

    def test_private_data_are_not(self):
        self.assertEqual(count("class a { int x; public: int y; private: int z_; };")["a"], 1)
        self.assertEqual(count("struct a { int x; private: int y_, z_; };")["a"], 1)

    def test_nested_classes_count_for_themselves(self):
        found = count("struct a { struct b { int x, y; }; b one; struct { int x; } two; };")
        self.assertEqual(found, {"a": 2, "b": 2})

    def test_no_class_has_too_many(self):
        self.assertEqual(members.main([]), 0)


if __name__ == "__main__":
    unittest.main()
