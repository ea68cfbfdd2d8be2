#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""README's program before and after is one that the benchmark of programs compiles and measures.

usage: readme_test.py README.md bench/programs/histogram.cpp
"""
import re
import sys


def bare(code):
    """Lines without comments and indentation."""
    lines = (re.sub(r"//.*", "", line).strip() for line in code.splitlines())
    return [line for line in lines if line]


def main():
    readme, source = (open(name, encoding="utf-8").read() for name in sys.argv[1:3])
    blocks = [b for b in re.findall(r"```cpp\n(.*?)```", readme, re.S) if "// before" in b and "#pragma omp" in b]
    assert len(blocks) == 1, f"{len(blocks)} programs before and after in README.md"
    shown = dict(zip(("before", "after"), blocks[0].split("\n\n", 1)))
    assert len(shown) == 2, "README.md: no empty line between the program before and after"
    for which, text in shown.items():
        assert f"// {which}" in text, f"README.md: no comment says that this is {which}:\n{text}"
        compiled = re.search(rf"// README: {which}\n(.*?)// README: end", source, re.S)
        assert compiled, f"no '// README: {which}' in {sys.argv[2]}"
        assert bare(text) == bare(compiled[1]), f"README.md says\n{text}\nand what is compiled is\n{compiled[1]}"


main()
