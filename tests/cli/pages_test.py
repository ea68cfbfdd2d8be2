#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coset completion, coset manual and coset(1) name the commands and options that --help names.

    pages_test.py COSET [unittest's arguments]
"""
import pathlib
import re
import shutil
import subprocess
import unittest

from command import COSET, Files, coset, needs_lab

OVERVIEW = pathlib.Path(__file__).resolve().parents[2] / "docs" / "coset.1"


def helped_commands():
    listed = coset("--help").stdout.split("Subcommands:")[1]
    return re.findall(r"^  (\w+) ", listed, re.MULTILINE)


def helped_options(command):
    """Long and short names, with those of its own commands."""
    text = coset(command, "--help").stdout
    for inner in re.findall(r"^  (\w+) ", text.partition("Subcommands:")[2], re.MULTILINE):
        text += coset(command, inner, "--help").stdout
    lines = re.findall(r"^ +(-{1,2}[\w-]+(?:,-{1,2}[\w-]+)*)", text, re.MULTILINE)
    return {name for line in lines for name in line.split(",")}


def words_after(script, *words):
    """What bash offers for the last of the words."""
    program = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _coset; printf "%s\\n" "${COMPREPLY[@]}"'
    result = subprocess.run(["bash", "-c", program, "bash", script, *words], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


class Overview(unittest.TestCase):
    """The page by hand."""

    def test_it_has_an_entry_for_each_command(self):
        text = OVERVIEW.read_text()
        for command in helped_commands():
            self.assertRegex(text, rf"(?m)^\.It Cm {command}\b")

    @needs_lab
    def test_each_option_that_it_names_exists(self):
        command, options = None, set()
        for line in OVERVIEW.read_text().splitlines():
            if line.startswith(".El") or line.startswith(".Sh"):
                command = None
            if (entry := re.match(r"\.It Cm (\w+)", line)):
                command = entry.group(1)
                options = helped_options(command)
            if command and line.startswith((".Fl", ".It Cm", ".Pq Fl")):
                for name in re.findall(r"\bFl (-?[\w-]+)", line):
                    self.assertIn("-" + name, options, f"{command}: {line}")


class Manual(unittest.TestCase):
    @needs_lab
    def test_each_page_has_all_options(self):
        for command in helped_commands():
            page = coset("manual", command)
            self.assertEqual(page.returncode, 0)
            text = page.stdout.replace("\\-", "-")
            for option in helped_options(command):
                self.assertIn(f"\\fB{option}\\fR", text)

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is missing")
    def test_pages_are_well_formed(self):
        for command in helped_commands():
            checked = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=coset("manual", command).stdout,
                                     capture_output=True, text=True)
            problems = [line for line in checked.stdout.splitlines() if "missing date" not in line]
            self.assertEqual(problems, [], command)

    def test_other_commands_have_none(self):
        self.assertEqual(coset("manual", "tea").returncode, 2)


class Completion(Files):
    def script(self, shell):
        made = coset("completion", shell)
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        path = pathlib.Path(self.folder) / f"completion.{shell}"
        path.write_text(made.stdout)
        return str(path)

    def test_bash_offers_commands_options_and_choices(self):
        script = self.script("bash")
        self.assertEqual(words_after(script, "coset", ""), {*helped_commands(), "--help", "--version"})
        for command in helped_commands():
            self.assertEqual(words_after(script, "coset", command, "-"), helped_options(command))
        self.assertEqual(words_after(script, "coset", "info", "--place", ""), {"compact", "scatter"})
        self.assertEqual(words_after(script, "coset", "bench", "reduce_s"), {"reduce_scatter", "reduce_shared"})
        self.assertEqual(words_after(script, "coset", "completion", ""), {"bash", "fish", "zsh"})
        self.assertEqual(words_after(script, "coset", "info", "--topology", ""), set())  # files, by bash itself

    def test_other_shells_read_theirs(self):
        for shell in ("zsh", "fish"):
            script = self.script(shell)
            text = pathlib.Path(script).read_text()
            for command in helped_commands():
                self.assertIn(command, text)
            if shutil.which(shell):
                subprocess.run([shell, "-n", script], check=True)

    def test_meanings_are_of_one_line(self):
        for shell in ("zsh", "fish"):
            text = pathlib.Path(self.script(shell)).read_text()
            self.assertIn("compact: ranks fill one node after the other" if shell == "fish" else
                          "compact\\: ranks fill one node after the other", text)
            self.assertNotIn("scatter: ranks take", text)

    @unittest.skipUnless(shutil.which("fish"), "fish is missing")
    def test_fish_offers_options_and_choices(self):
        script = self.script("fish")
        for typed, offered in (("coset inf", "info"), ("coset plan ring --sv", "--svg"),
                               ("coset info --place s", "scatter")):
            said = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{typed}'"],
                                  capture_output=True, text=True, check=True).stdout
            self.assertIn(offered, [line.split("\t")[0] for line in said.splitlines()])


if __name__ == "__main__":
    unittest.main()
