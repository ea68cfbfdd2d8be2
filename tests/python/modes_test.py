#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A team has its maker's floating-point mode, whatever libraries have done to the modes of its ranks' threads since."""
import ctypes
import platform
import unittest

from support import team

import numpy as np

C_LIBRARY = ctypes.CDLL("libm.so.6")
UPWARD = {"x86_64": 0x800, "aarch64": 0x400000}.get(platform.machine())


@unittest.skipIf(UPWARD is None, "how fesetround() spells it here is not known")
class Modes(unittest.TestCase):
    def test_ranks_that_round_otherwise_get_the_same_bits(self):
        for rounds_up in (0, 1):
            def body(me):
                mine = UPWARD if me.rank == rounds_up else 0
                C_LIBRARY.fesetround(mine)
                x = np.array([1.0 if me.rank == 0 else 2.0 ** -60])
                me.allreduce(x)
                value = me.allreduce(float(x[0]) * 0 + (1.0 if me.rank == 0 else 2.0 ** -60))
                kept = C_LIBRARY.fegetround() == mine
                C_LIBRARY.fesetround(0)
                return x[0], value, kept
            self.assertEqual(team(2).run(body), [(1.0, 1.0, True)] * 2)


if __name__ == "__main__":
    unittest.main()
