# SPDX-License-Identifier: Apache-2.0
"""survivors.py HOSTS SHAPE PROGRAM: whichever process is killed, every other one reports coset::mpi::error by itself."""
import pathlib
import subprocess
import sys
import tempfile
import time

HOSTS, SHAPE, PROGRAM = sys.argv[1:]
PROCESSES = sum(int(n) for n in SHAPE.split("+"))
SECONDS = 5  # after the launcher has ended, which survivors have waited for one
ATTEMPTS = 10


def reports_in(directory, expected):
    """What survivors say: the launcher may end before they do."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and not all((directory / str(p)).exists() for p in expected):
        time.sleep(0.05)
    return {int(file.name): file.read_text() for file in directory.iterdir() if file.name.isdigit()}


def kill(victim):
    """What the others report."""
    with tempfile.TemporaryDirectory() as made:
        command = [HOSTS, "mpich", SHAPE, "--mpi-arg", "-disable-auto-cleanup", PROGRAM, str(victim), made]
        run = subprocess.run(command, capture_output=True, text=True, timeout=45, check=False)
        if run.returncode == 77:
            print(run.stderr)
            sys.exit(77)
        return reports_in(pathlib.Path(made), [p for p in range(PROCESSES) if p != victim]), run


for victim in range(PROCESSES):
    expected = [p for p in range(PROCESSES) if p != victim]
    # Hydra's proxy of a process that dies sometimes fails in forwarding it a last word, and kills its other processes.
    for attempt in range(ATTEMPTS):
        reports, run = kill(victim)
        if sorted(reports) == expected:
            break
    if sorted(reports) != expected or not all(text.startswith("mpi::error") for text in reports.values()):
        sys.exit(f"process {victim} was killed; {expected} should have reported mpi::error, but:\n"
                 f"{reports}\n{run.stdout}\n{run.stderr}")
    print(f"process {victim} killed, {expected} reported it at attempt {attempt + 1}")
