#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program that includes <coset/coset.hpp> has to read: our headers, and the standard ones that these name.

As a test it compares them with the list below, so that nobody adds a heavy one without noticing, or one of another
library. bench/include_time.py measures what they cost.
"""
import pathlib
import re
import sys

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
NAMED = re.compile(r'^\s*#\s*include\s+["<]([^">]+)', re.MULTILINE)

ALLOWED = set("""
array atomic bit concepts cstddef cstdint cstring exception initializer_list iosfwd limits memory new shared_mutex span stdexcept string string_view tuple
type_traits typeinfo utility vector
""".split())

# What only other standard libraries than GNU's have to read.
ELSEWHERE = {"coset/detail/whole_standard.hpp"}


def read_by(header, include=INCLUDE):
    """(ours, others): all headers of coset's that `header` leads to, and what else these include."""
    ours, others, waiting = set(), set(), [header]
    while waiting:
        header = waiting.pop()
        if header in ours:
            continue
        ours.add(header)
        for named in NAMED.findall((include / header).read_text(encoding="utf-8")):
            # The absence of those in needs/ is the message of a compiler that is too old.
            if named in ELSEWHERE or named.startswith("coset/needs/"):
                continue
            if named.startswith("coset/"):
                waiting.append(named)
            else:
                others.add(named)
    return ours, others


def main():
    _, others = read_by("coset/coset.hpp")
    for header in sorted(others - ALLOWED):
        print(f"coset.hpp leads to <{header}>, which public_headers.py does not list")
    return 1 if others - ALLOWED else 0


if __name__ == "__main__":
    sys.exit(main())
