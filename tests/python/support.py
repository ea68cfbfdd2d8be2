# SPDX-License-Identifier: Apache-2.0
"""What the tests of the module share: imported by each, whose first argument is the folder where the module lies."""
import sys

try:
    import numpy  # noqa: F401
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)

folder = sys.argv.pop(1)
sys.path.insert(0, folder)
import coset  # noqa: E402


def team(ranks):
    return coset.Team(ranks, placement="unbound")


class Starting:
    """A member whose verbs are started, and waited for at once."""

    def __init__(self, me):
        self._me, self.rank, self.size = me, me.rank, me.size

    def __getattr__(self, verb):
        start = getattr(self._me, "start_" + verb)
        return lambda *given, **named: start(*given, **named).wait()
