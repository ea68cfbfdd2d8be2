#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the benchmark of contention makes of the lines that its program writes: which cells it calls behind.

usage: contention_test.py bench/interpose
"""
import sys

sys.path.insert(0, sys.argv[1])
from contention import cell_of, is_behind, line_of  # noqa: E402


def judged(theirs, ours):
    """Of a median and a 99th percentile of each side."""
    row = ["scan", "nonblocking", "65536", "2", *(str(x) for side in (theirs, ours) for x in (*side, 1.5, 1000))]
    cell = cell_of("openmpi", "on", row)
    return is_behind(cell), line_of(cell)


EQUAL = judged((1.0, 2.0), (1.0, 2.0))
assert EQUAL[0] == (False, False) and "✗" not in EQUAL[1], EQUAL
assert "| openmpi | on | 2 | scan | nonblocking | 64 KiB |" in EQUAL[1], EQUAL
# A median within a twentieth of MPI's is no slower; a tail may be a fifth longer.
assert judged((0.96, 10.0), (1.0, 12.0))[0] == (False, False)
SLOW = judged((1.0, 10.0), (1.1, 9.0))
assert SLOW[0] == (True, False) and "0.91× ✗" in SLOW[1], SLOW
LONG = judged((1.0, 10.0), (0.5, 13.0))
assert LONG[0] == (False, True) and "1.30 ✗" in LONG[1] and "2.00×" in LONG[1], LONG
assert judged((0.0, 0.0), (0.0, 0.0))[0] == (False, False)
