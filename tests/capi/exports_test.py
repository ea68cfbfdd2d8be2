# SPDX-License-Identifier: Apache-2.0
"""exports_test.py NM LIBRARY PROJECT: the shared library exports the functions that the C headers declare, each at a version
that coset.map has, the C++ interface, and nothing else. Every function occurs in a test. The headers number the verbs as C++
does. That nothing goes which programs were linked with, tests/abi sees to."""
import pathlib
import re
import subprocess
import sys

nm, library, project = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
output = subprocess.run([nm, "-D", "--defined-only", "--with-symbol-versions", library], check=True, text=True,
                        stdout=subprocess.PIPE).stdout
exported = {line.split()[-1] for line in output.splitlines()}
exported = {name for name in exported if not re.match(r"COSET_[0-9.]+", name)}  # but for the versions themselves

functions = dict(name.replace("@@", "@").split("@") for name in exported if name.startswith("coset_"))
strangers = {name for name in exported if not re.match(r"coset_|_Z(T[ISV])?NK?5coset", name)}
# That of MPI comes with a library of its own.
headers = "".join(re.sub(r"//[^\n]*", "", file.read_text()) for file in sorted((project / "include/coset").rglob("*.h"))
                  if file.name != "coset_mpi.h")
declared = set(re.findall(r"COSET_API [^;(]*\b(coset_\w+)\(", headers))
versions = set(re.findall(r"^(COSET_[0-9.]+) \{", (project / "src/bindings/c/coset.map").read_text(), re.M))
enum = re.search(r"enum class verb : [\w:]+ \{(.*?)\};", (project / "include/coset/verbs/verb.hpp").read_text(), re.S)
verbs = re.findall(r"^\s*(\w+)", re.sub(r"//.*", "", enum[1]).replace(",", "\n"), re.M)

wrong = []


def expect_none(names, why):
    if names:
        wrong.append(f"{why}:\n  " + "\n  ".join(sorted(names)))


expect_none(functions.keys() - declared, "exported, but declared in no header of C with COSET_API")
expect_none(declared - functions.keys(), "declared in a header of C, but not exported")
expect_none({name for name, version in functions.items() if version not in versions}, "at no version of src/bindings/c/coset.map")
expect_none(strangers, "exported, but nothing of coset's interfaces: src/bindings/c/coset.map should keep them local")

# Forms of verbs are called by name (calls_test.cpp).
forms = re.compile(r"coset_(start_)?(%s)(_counts)?" % "|".join(verbs))
tests = "".join(file.read_text() for file in (project / "tests/capi").rglob("*.c"))
expect_none({name for name in declared if not forms.fullmatch(name) and not re.search(name + r"\b\(", tests)},
            "in no test of tests/capi")

numbers = {name.lower(): int(number) for name, number in re.findall(r"COSET_VERB_(\w+) = (\d+)", headers)}
planned = {name: number for number, name in enumerate(verbs) if name != "allreduce_view"}  # which has no plans
expect_none({name for name, _ in numbers.items() ^ planned.items()}, "not the same verb for C as for C++")

if wrong:
    sys.exit("\n".join(wrong))
