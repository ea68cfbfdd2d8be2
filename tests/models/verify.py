#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verifies a Promela model, and sees to it that the mutants of it fail.

usage: verify.py SPIN COMPILER MODEL, from the folder of the models. 77: skipped.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Ranks and epochs, then those of the long form.
BOUNDS = {
    "lines": ([(2, 4), (3, 2)], [(2, 6), (3, 4)]),
    "sleep": ([(2, 3), (3, 3)], [(2, 6), (3, 6)]),
    "abort": ([(2, 3), (3, 3)], [(2, 6), (3, 5)]),
    "left": ([(2, 3), (3, 3)], [(2, 6), (3, 6)]),
    "standstill": ([(2, 2)], [(2, 3), (3, 1)]),
    "learning": ([(2, 2), (3, 1)], [(2, 3), (3, 1)]),  # (2, 4) takes more than 4 GB
}
EPOCHS_OF_MUTANTS = {"lines": 4, "sleep": 3, "abort": 3, "left": 3, "standstill": 2, "learning": 3}
VARIANTS = {"lines": [[]], "sleep": [[], ["EXCHANGED"]], "abort": [[]], "left": [[]], "standstill": [[]],
            "learning": [[]]}
MUTANTS = {
    "lines": ["PARITIES=1", "NO_REUSE_WAIT", "TAG_FIRST", "TELLS_FIRST"],
    "sleep": ["NO_MEMBARRIER", "NO_RECHECK"],
    "abort": ["PLAIN_BUSY", "PLAIN_ABORT", "NO_QUIESCE"],
    "left": ["NO_SECOND_LOOK", "LEFT_FIRST"],
    "standstill": ["ONE_ROUND", "ONE_LOOK", "COUNT_FIRST", "NO_LOOK", "ANYBODY_ASKS"],
    "learning": ["NO_REUSE_WAIT", "TAG_FIRST", "NO_MEETING", "NO_FORGETTING", "FORGETS_ALONE"],
}


# Mutants' errors are met too early for an optimised search to pay, this one's if the last choice is taken first.
SEARCH, SEARCH_OF_MUTANTS = ["-O1"], ["-O0"]
REVERSED = {("learning", "NO_REUSE_WAIT"): ["-DT_REVERSE"]}


def verify(spin, compiler, model, definitions, search):
    """How many errors the search finds (it stops at the first), and how many states it saw."""
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as folder:
        def run(*command):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
            return done.stdout

        for name in ("tso.pml", model + ".pml"):  # spin looks for included files where it runs
            shutil.copy(os.path.join(here, name), folder)
        run(spin, "-a", *[f"-D{name}" for name in definitions], model + ".pml")
        run(compiler, "-xc", *search, "-w", "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=4000", "-o", "pan", "pan.c")
        report = run("./pan", "-m1000000")
    errors = int(re.search(r"errors: (\d+)", report)[1])
    states = int(re.search(r"(\d+) states, stored", report)[1])
    if "max search depth too small" in report or "Search not completed" in report and errors == 0:
        sys.exit(f"{model} {definitions}: the search was not complete\n{report}")
    return errors, states


def main(spin, compiler, model):
    if not os.access(spin, os.X_OK):
        print("skipped: there is no spin here")
        return 77
    bounds = BOUNDS[model][os.environ.get("COSET_TEST_EFFORT") == "long"]
    searches = [([f"RANKS={ranks}", f"EPOCHS={epochs}", *variant], SEARCH) for ranks, epochs in bounds
                for variant in VARIANTS[model]]
    searches += [(["RANKS=2", f"EPOCHS={EPOCHS_OF_MUTANTS[model]}", mutant],
                  SEARCH_OF_MUTANTS + REVERSED.get((model, mutant), [])) for mutant in MUTANTS[model]]
    failed = False
    for definitions, search in searches:
        wrong = definitions[-1] in MUTANTS[model]
        errors, states = verify(spin, compiler, model, definitions, search)
        verdict = "as it must be" if (errors > 0) == wrong else "WRONG"
        print(f"{model} {' '.join(definitions)}: {errors} errors in {states} states, {verdict}", flush=True)
        failed |= (errors > 0) != wrong
    return int(failed)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
