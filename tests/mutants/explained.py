# SPDX-License-Identifier: Apache-2.0
"""Mutants that no test can tell from the original, each with its reason: explained.txt."""


class Explained:
    """Blocks of lines, told apart by the text of the source, not by line numbers:

        src/runtime/executor.cpp       a file; what follows is about it
        - perturb();                   a line as it stands, white space and comments apart
        + ;                            what a mutant makes of it; "+ *" is whatever is made of it; may be repeated
        = only perturbed tests define it
    """

    def __init__(self, path):
        self.reasons = {}
        self.used = set()
        file = before = None
        after = []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            kind, text = line[:1], line[2:].strip()
            if not line.strip() or kind == "#":
                continue
            if kind == "-":
                before, after = text, []
            elif kind == "+" and before:
                after.append(text)
            elif kind == "=" and file and after and text:
                for each in after:
                    self.reasons[file, before, each] = text
            elif kind not in "-+=":
                file, before, after = line.strip(), None, []
            else:
                raise SystemExit(f"{path}:{number}: {line!r} is out of place")

    def reason_for(self, mutant):
        for after in (mutant.change.after, "*"):
            key = mutant.file, mutant.change.before, after
            if key in self.reasons:
                self.used.add(key)
                return self.reasons[key]
        return None

    def unused(self):
        return [" | ".join(key) for key in self.reasons if key not in self.used]
