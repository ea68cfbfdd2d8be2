# SPDX-License-Identifier: Apache-2.0
"""exports_test.py NM LIBRARY FOLDER: the shared library exports the functions that symbols.txt lists, each at the version
listed, the C++ interface, and nothing else; and every function of the list occurs in a test."""
import pathlib
import re
import subprocess
import sys

nm, library, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
output = subprocess.run([nm, "-D", "--defined-only", "--with-symbol-versions", library], check=True, text=True,
                        stdout=subprocess.PIPE).stdout
exported = {line.split()[-1] for line in output.splitlines()}
exported = {name for name in exported if not re.match(r"COSET_[0-9.]+", name)}  # but for the versions themselves

functions = {name.replace("@@", "@") for name in exported if name.startswith("coset_")}
strangers = {name for name in exported if not re.match(r"coset_|_Z(T[ISV])?NK?5coset", name)}
listed = set((folder / "symbols.txt").read_text().split())

wrong = []
if functions - listed:
    wrong.append("""exported, but not in tests/capi/symbols.txt:
  {}
A new function of coset.h: give it the node of the version that it comes with in src/bindings/c/coset.map, and add these lines
to the list. Anything else should not be visible.""".format("\n  ".join(sorted(functions - listed))))
if listed - functions:
    wrong.append("""in tests/capi/symbols.txt, but not exported:
  {}
Programs that were linked with the library need it. It may only go with a new SOVERSION.""".format(
        "\n  ".join(sorted(listed - functions))))
if strangers:
    wrong.append("exported, but nothing of coset's interfaces:\n  {}\nsrc/bindings/c/coset.map should keep them local.".format(
        "\n  ".join(sorted(strangers))))

tests = "".join(file.read_text() for file in folder.rglob("*.c"))
untested = sorted(name.split("@")[0] for name in listed if not re.search(name.split("@")[0] + r"\b\(", tests))
if untested:
    wrong.append("in no test of tests/capi:\n  " + "\n  ".join(untested))

if wrong:
    sys.exit("\n".join(wrong))
