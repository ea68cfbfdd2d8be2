#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The costs that files of claims give: how many messages have one latency, and how many network cards they share.

    claim_costs_test.py COSET [unittest's arguments]
"""
import json
import pathlib
import unittest

from command import Files, coset, needs_lab

ALPHA, BETA, GAMMA = 30, 0.01, 0.0002  # microseconds, of which bytes
CLAIM = """
source {{name = "by hand", paper = "none"}}
claim {{
  id = "H-1", where = "here", says = "nothing", asks = "time", agrees = "> 0", disagrees = "<= 0",
  model = function() return time("bruck_ho(n=5)", 4, 2000, {costs}) end,
}}
"""


@needs_lab
class ThreePeersSendTwoThousandBytesEach(Files):
    def time(self, costs):
        file = pathlib.Path(self.folder, "claims.lua")
        file.write_text(CLAIM.format(costs=costs))
        found = coset("reproduce", "by hand", "--json", "--claims", file)
        self.assertEqual((found.returncode, found.stderr), (0, ""))
        return json.loads(found.stdout)["sources"][0]["claims"][0]["answers"][0]["values"][0]["value"]

    def test_one_after_another(self):
        self.assertAlmostEqual(self.time("{}"), 3 * ALPHA + 6000 * BETA + 6000 * GAMMA)

    def test_latencies_of_messages_at_once_overlap_and_bytes_share_the_card(self):
        self.assertAlmostEqual(self.time("{at_once = 2}"), 2 * ALPHA + 6000 * BETA + 6000 * GAMMA)
        self.assertAlmostEqual(self.time("{at_once = 5}"), ALPHA + 6000 * BETA + 6000 * GAMMA)

    def test_each_has_a_card_where_there_are_as_many_ports(self):
        self.assertAlmostEqual(self.time("{ports = 5}"), ALPHA + 2000 * BETA + 6000 * GAMMA)
        self.assertAlmostEqual(self.time("{ports = 2, at_once = 5}"), ALPHA + 3000 * BETA + 6000 * GAMMA)


if __name__ == "__main__":
    unittest.main()
