# SPDX-License-Identifier: Apache-2.0
"""survivors.py HOSTS SHAPE PROGRAM: whichever process is killed, every other one reports coset::mpi::error by itself."""
import re
import subprocess
import sys

HOSTS, SHAPE, PROGRAM = sys.argv[1:]
PROCESSES = sum(int(n) for n in SHAPE.split("+"))

for victim in range(PROCESSES):
    command = [HOSTS, "mpich", SHAPE, "--mpi-arg", "-disable-auto-cleanup", PROGRAM, str(victim)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=45, check=False)
    if run.returncode == 77:
        print(run.stderr)
        sys.exit(77)
    reports = sorted(int(n) for n in re.findall(r"survivor (\d+): mpi::error", run.stdout))
    expected = [p for p in range(PROCESSES) if p != victim]
    if reports != expected:
        sys.exit(f"process {victim} was killed; {expected} should have reported mpi::error, {reports} did:\n"
                 f"{run.stdout}\n{run.stderr}")
    print(f"process {victim} killed, {reports} reported it")
