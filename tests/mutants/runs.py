# SPDX-License-Identifier: Apache-2.0
"""The tests of a build, and how they are run with another binary."""
import ctypes
import json
import os
import resource
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

FASTEST = 5  # seconds
MOST_MEMORY = 8 << 30
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)


@dataclass(frozen=True)
class Test:
    name: str
    command: tuple
    environment: tuple

    def binary(self):
        return Path(self.command[0])


def tests_of(build):
    """All tests that ctest knows, those that are not built without a command."""
    said = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True)
    tests = {}
    for t in json.loads(said.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in t.get("properties", [])}
        tests[t["name"]] = Test(t["name"], tuple(t.get("command", [])), tuple(properties.get("ENVIRONMENT", [])))
    return tests


class Runs:
    """Runs tests, none of them longer than several times what it takes without a change. That is measured where it is asked
    for: nearly all are done sooner than FASTEST."""

    def __init__(self, place, longest):
        self.place, self.longest = place, longest
        self.unchanged = {}  # seconds that tests take without a change
        self.passed = {}  # the same, of those that noticed nothing
        self.lock = threading.Lock()

    def run(self, test, binary):
        """passed, failed, or timeout: for ever, or at least far longer than without the change."""
        begin = time.time()
        process = start(test, binary, self.place)
        try:
            how = waited_for(process, min(FASTEST, self.longest))
            if how is None:
                how = waited_for(process, self.limit_of(test) - (time.time() - begin))
            if how == "passed":
                self.passed[test.name] = time.time() - begin
            return how or "timeout"
        finally:
            end(process)

    def limit_of(self, test):
        with self.lock:
            if test.name not in self.unchanged:
                begin = time.time()
                process = start(test, test.binary(), self.place)
                waited_for(process, self.longest)
                end(process)
                self.unchanged[test.name] = time.time() - begin
        return min(self.longest, FASTEST + 10 * self.unchanged[test.name])

    def usual_seconds(self, test):
        return self.passed.get(test.name, 1)


def start(test, binary, place):
    def bounded():
        os.setsid()
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # whoever ends this script leaves no test behind that hangs
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))

    environment = dict(os.environ, COSET_TEST_EFFORT="small", COSET_TUNING="off", OMP_NUM_THREADS="2")
    environment |= (pair.split("=", 1) for pair in test.environment)
    return subprocess.Popen([binary, *test.command[1:], "--gtest_brief=1", "--gtest_fail_fast"], cwd=place, env=environment,
                            preexec_fn=bounded, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def waited_for(process, seconds):
    """passed or failed, None where it goes on."""
    try:
        return "passed" if process.wait(max(0, seconds)) == 0 else "failed"
    except subprocess.TimeoutExpired:
        return None


def end(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
