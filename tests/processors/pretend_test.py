# SPDX-License-Identifier: Apache-2.0
"""Programs on a machine of five processors that is not there. The only argument is the command."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

COSET = sys.argv.pop(1)
RUN = pathlib.Path(__file__).with_name("run")
MASKS = """
import os, subprocess, sys, threading
print(sorted(os.sched_getaffinity(0)), os.cpu_count())
os.sched_setaffinity(0, {2, 4})
seen = []
thread = threading.Thread(target=lambda: seen.append(sorted(os.sched_getaffinity(0))))
thread.start()
thread.join()
if os.fork() == 0:
    print(sorted(os.sched_getaffinity(0)), flush=True)
    os._exit(0)
os.wait()
print(seen[0], sorted(os.sched_getaffinity(0)))
print(subprocess.run(["nproc"], capture_output=True, text=True).stdout.strip())
try:
    os.sched_setaffinity(0, {5})
except OSError as refused:
    print(refused.errno)
"""


def pretend(*command):
    return subprocess.run([RUN, "5", *command], capture_output=True, text=True, timeout=60)


class Pretended(unittest.TestCase):
    def test_masks_are_kept_and_inherited(self):
        run = pretend(sys.executable, "-u", "-c", MASKS)
        self.assertEqual(run.stdout.splitlines(),
                         ["[0, 1, 2, 3, 4] 5", "[2, 4]", "[2, 4] [2, 4]", "2", "22"], run.stderr)

    def test_a_team_has_them_all(self):
        run = pretend(COSET, "info", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        found = json.loads(run.stdout)
        self.assertEqual((found["cores"], found["team"]), (5, [0, 1, 2, 3, 4]))

    def test_ranks_share_the_processor_of_a_mask(self):
        run = pretend("taskset", "-c", "3", COSET, "info", "-r", "2", "--json")
        found = json.loads(run.stdout)
        self.assertEqual(found["team"], [3, 3])


if __name__ == "__main__":
    if "REAL_PROCESSORS" in os.environ or os.geteuid() != 0 or subprocess.run(
            ["unshare", "--mount", "mount", "--bind", "/tmp", "/sys/devices/system/cpu"], capture_output=True).returncode != 0:
        print("no namespaces here, or in one already")
        sys.exit(77)
    unittest.main()
