#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The inner loop over a dense reducer's local() is the loop over a raw pointer: no instruction more of it touches memory.

    loops_test.py OBJDUMP OBJECT…      objects of loops.cpp, compiled in several ways
"""
import re
import subprocess
import sys

PAIRS = ("one_array", "three_arrays")


def functions(objdump, file):
    """{name: [(address, mnemonic, operands)]}"""
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", file], capture_output=True, text=True, check=True).stdout
    found, current = {}, None
    for line in text.splitlines():
        if head := re.match(r"[0-9a-f]+ <(\w+)>:$", line):
            current = found.setdefault(head[1], [])
        elif current is not None and (one := re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)$", line)):
            current.append((int(one[1], 16), one[2], one[3]))
    return found


def loops(code):
    """(instructions, of these with a memory operand) of each innermost loop: what a backward jump spans that contains none."""
    spans = []
    for address, mnemonic, operands in code:
        target = re.match(r"([0-9a-f]+) <", operands)
        if re.match(r"j|b\.|cb", mnemonic) and target and int(target[1], 16) < address:
            spans.append((int(target[1], 16), address))
    inner = [s for s in spans if not any(o != s and s[0] <= o[0] and o[1] <= s[1] for o in spans)]
    result = []
    for begin, end in inner:
        body = [(m, o) for a, m, o in code if begin <= a <= end and m not in ("nop", "nopl", "nopw", "data16", "xchg")]
        if any(m.startswith(("call", "bl")) for m, _ in body):
            continue  # where a thread has no copy yet
        result.append((len(body), sum(1 for m, o in body if ("(" in o or "[" in o) and not m.startswith("lea"))))
    return sorted(result)


def main():
    objdump, *files = sys.argv[1:]
    worse = 0
    for file in files:
        found = functions(objdump, file)
        for pair in PAIRS:
            by_hand, by_reducer = (loops(found[f"{pair}_by_{way}"]) for way in ("pointer", "reducer"))
            same = bool(by_hand) and [m for _, m in by_hand] == [m for _, m in by_reducer]
            worse += not same
            print(f"{file}: {pair}: (instructions, memory) {by_hand} by hand, {by_reducer} by reducer{'' if same else '  DIFFER'}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
