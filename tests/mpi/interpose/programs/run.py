#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program as it is, with and without libcoset_preload.so before MPI, and compares what it says.

usage: run.py PROGRAM MPI LIBRARY PROCESSES [FILE]

PROGRAM is lammps (molecules of a melting crystal) or hpcc (Linpack, transposition, random access, Fourier transforms), as
Debian has them for Open MPI; or gradients, a solver of a linear system whose executable is FILE. Exit status: 1 if the
answers differ, if the library carried out nothing, or, of the program turns, if its communicators did not go on with teams of
those before; 77 where the program is not installed.
"""
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")
MELT = """\
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 5 every 1
fix 1 all nve
compute moved all msd
thermo_style custom step temp pe etotal press c_moved[4]
thermo_modify format float %.12g
thermo 10
run 100
"""


def lammps(folder):
    (folder / "melt.in").write_text(MELT, encoding="utf-8")
    return ["lmp", "-in", "melt.in", "-log", "none"]


def said_by_lammps(_, words):
    """The rows of its table."""
    return [line for line in words.splitlines() if re.fullmatch(r"(\s*[-+.\deE]+){6}\s*", line)]


def hpcc(folder):
    sample = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
    words = sample.read_text(encoding="utf-8") if sample.exists() else ""
    words = re.sub(r"^1000(\s+Ns)", r"400\1", words, flags=re.MULTILINE)
    words = re.sub(r"^2(\s+Ps)", r"1\1", words, flags=re.MULTILINE)
    (folder / "hpccinf.txt").write_text(words, encoding="utf-8")
    return ["hpcc"]


def said_by_hpcc(folder, _):
    """Residuals, errors and verdicts; no times."""
    words = (folder / "hpccoutf.txt").read_text(encoding="utf-8")
    verdicts = re.findall(r".*(?:eps.*PASSED|FAILED|Found \d+ errors.*|Validates|Node\(s\) with error.*)", words)
    return sorted(verdicts + re.findall(r"(?:Success|\w+_(?:Errors|ErrorsFraction))=.*", words))


PROGRAMS = {"lammps": (lammps, said_by_lammps), "hpcc": (hpcc, said_by_hpcc)}


def run(mpi, processes, command, folder, variables):
    """What it said, on both streams."""
    options = []
    for name, value in variables.items():
        options += ["-x", f"{name}={value}"] if mpi == "openmpi" else ["-genv", name, value]
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}
    ran = subprocess.run([os.environ.get("COSET_MPIEXEC", f"mpiexec.{mpi}"), "-n", processes, *options, *command],
                         cwd=folder, env=os.environ | as_root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         check=False)
    words = ran.stdout.decode(errors="replace")
    if ran.returncode != 0:
        sys.exit(f"exit status {ran.returncode}\n{words}")
    return words


def are_alike(one, other):
    """Words the same, numbers up to what another order of sums makes of them."""
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    return all(math.isclose(float(a), float(b), rel_tol=1e-6, abs_tol=1e-12)
               for a, b in zip(NUMBER.findall(one), NUMBER.findall(other)))


def look_at_teams(words):
    """Process 0's: of MPI_COMM_WORLD, its duplicates, the other order of it, and a half."""
    made, again = map(int, re.search(r"(\d+) teams made, taken again (\d+) times", words).groups())
    if made > 4 or again < 100:
        sys.exit(f"{made} teams were made, and {again} times one was taken again: not one for all communicators of a kind")


def main():
    program, mpi, library, processes, *rest = sys.argv[1:]
    prepare, said_by = PROGRAMS.get(program, (lambda _: rest, lambda _, words: [
        line for line in words.splitlines() if line.startswith("answer")]))
    answers = []
    carried_out = ""
    for variables in ({}, {"LD_PRELOAD": library, "COSET_LOG": "mpi"}):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            command = prepare(folder)
            if shutil.which(command[0]) is None:
                print(f"{command[0]} is not installed")
                sys.exit(77)
            words = run(mpi, processes, command, folder, variables)
            answers.append(said_by(folder, words))
            carried_out = re.search(r"coset: collectives of process 0((?:\n  .*)+)", words)
    if not carried_out or "Allreduce" not in carried_out.group(1):
        sys.exit("the library carried out nothing")
    print(carried_out.group(0))
    if program == "turns":
        look_at_teams(carried_out.group(1))
    if not answers[0] or len(answers[0]) != len(answers[1]):
        sys.exit(f"{len(answers[0])} answers without the library, {len(answers[1])} with it")
    for one, other in zip(*answers):
        if not are_alike(one, other):
            sys.exit(f"without the library: {one}\nwith the library:    {other}")
    print(f"{len(answers[0])} answers are alike")


if __name__ == "__main__":
    main()
