#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads all machines of hwloc's own tests as hwloc's tools do, or refuses them with a reason.

    git clone https://github.com/open-mpi/hwloc
    tests/numa/hwloc_suite.py hwloc/tests/hwloc build/release/coset     # needs hwloc-info and lstopo of Debian's hwloc

What Linux or the processors said (.tar.bz2) is made XML by the lstopo at hand; XML of a newer hwloc than that is refused, as it
is by hwloc. Compared are the numbers of processors, cores and memories. Ends with 1 if a machine is read otherwise.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile


def output_of(*command):
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return run.stdout if run.returncode == 0 else None


def as_xml(archive, folder):
    """The file that lstopo makes of an archive, or None."""
    inside = os.path.join(folder, os.path.basename(archive))
    os.mkdir(inside)
    if output_of("tar", "-xjf", archive, "-C", inside) is None:
        return None
    of_processor = next((where for where, _, files in os.walk(inside) if "pu0" in files), None)
    top = os.path.join(inside, sorted(os.listdir(inside))[0])
    where, kind = (of_processor, "cpuid") if of_processor else (top, "fsroot")
    made = inside + ".xml"
    return made if output_of("lstopo-no-graphics", "--if", kind, "--input", where, made) is not None else None


def counts_of_hwloc(file):
    """Of processors, cores and memories, by lines like " depth 6:     4 Core (type #2)"; None if hwloc reads no such file."""
    told = output_of("hwloc-info", "--input", file)
    found = [re.search(rf"(\d+) {kind} \(type", told or "") for kind in ("PU", "Core", "NUMANode")]
    if not found[0]:
        return None
    processors, cores, memories = (int(each[1]) if each else 0 for each in found)
    return [processors, cores or processors, memories]  # who tells of no cores has one for each processor


def counts_of_coset(coset, file):
    run = subprocess.run([coset, "info", "--topology", file, "--json"], capture_output=True, text=True, timeout=120, check=False)
    if run.returncode != 0:
        return run.stderr.strip()
    machine = json.loads(run.stdout)
    machine = machine.get("machine", machine)
    return [len(machine["processors"]), machine["cores"], len(machine.get("memories", machine["nodes"]))]


def main(folder, coset):
    right, refused, wrong = 0, [], []
    with tempfile.TemporaryDirectory() as scratch:
        for file in sorted(glob.glob(f"{folder}/*/*.xml") + glob.glob(f"{folder}/*/*.tar.bz2")):
            name = os.path.relpath(file, folder)
            described = file if file.endswith(".xml") else as_xml(file, scratch)
            if described is None:
                refused.append(f"{name}: lstopo makes nothing of it")
                continue
            theirs, ours = counts_of_hwloc(described), counts_of_coset(coset, described)
            if isinstance(ours, str):
                (wrong if theirs else refused).append(f"{name}: {ours}")
            elif ours == theirs:
                right += 1
            else:
                wrong.append(f"{name}: {ours} processors, cores and memories; hwloc counts {theirs}")
    print(*(f"refused {line}" for line in refused), *(f"WRONG {line}" for line in wrong), sep="\n")
    print(f"{right} as hwloc counts them, {len(refused)} refused as by hwloc, {len(wrong)} otherwise")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
