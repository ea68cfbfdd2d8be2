# SPDX-License-Identifier: Apache-2.0
"""Mutants that no test can tell from the original, each with its reason: explained.txt."""


class Explained:
    """Blocks of lines that name mutants as places.py and changes.py do, not by line numbers or what stands in them:

        src/runtime/executor.cpp                               a file; what follows is about it
        - shares_processor: negates; false -> true             a function, and what is changed in it
        - await: removes perturb (2 of 3)                      where several are called the same, which and of how many
        - park: *                                              all that is changed in a function which does nothing else
        = only perturbed tests define it                       the reason of those above
    """

    def __init__(self, path):
        self.path = path
        self.reasons = {}  # with the lines that the mutants stand in
        self.used = set()
        file, named = None, []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            kind, text = line[:2], line[2:].strip()
            function, _, changes = text.partition(": ")
            if not line.strip() or line.startswith("#"):
                continue
            if kind == "- " and file and changes:
                named += [((file, f"{function}: {change.strip()}"), number) for change in changes.split(";")]
            elif kind == "= " and named and text:
                self.give(named, text)
                named = []
            elif line[0] not in "-+=" and not named:
                file = line.strip()
            else:
                raise SystemExit(f"{path}:{number}: {line!r} is out of place")
        if named:
            raise SystemExit(f"{path}:{named[0][1]}: {named[0][0][1]!r} has no reason")

    def give(self, named, reason):
        for mutant, number in named:
            if mutant in self.reasons:
                raise SystemExit(f"{self.path}:{number}: {mutant[1]!r} has a reason in line {self.reasons[mutant][1]}")
            self.reasons[mutant] = reason, number

    def reason_for(self, mutant):
        for key in ((mutant.file, mutant.name), (mutant.file, f"{mutant.change.function}: *")):
            if key in self.reasons:
                self.used.add(key)
                return self.reasons[key][0]
        return None

    def unused(self):
        return [f"{self.path}:{number}: {key[0]}: {key[1]}, as {reason!r}" for key, (reason, number) in self.reasons.items()
                if key not in self.used]
