# SPDX-License-Identifier: Apache-2.0
"""What tests of pages share: one browser for a class, the command, pictures, and what every page of coset's has to keep.

COSET names the command, build/release/coset by default; COSET_PICTURES=write replaces the pictures in docs/pictures."""
import os
import pathlib
import subprocess
import tempfile
import unittest

from . import browser

ROOT = pathlib.Path(__file__).resolve().parents[3]
COSET = os.environ.get("COSET", ROOT / "build/release/coset")
PICTURES_WANTED = os.environ.get("COSET_PICTURES") == "write"
LARGEST_PICTURE = 150_000  # bytes: README's readers load them


@unittest.skipUnless(browser.found(), "no chromium here")
class PageTestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.browser = cls.enterClassContext(browser.Browser())

    @classmethod
    def coset(cls, *arguments, **environment):
        """Runs the command, which has to succeed; its standard output."""
        run = subprocess.run([COSET, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False,
                             env={**os.environ, **environment})
        if run.returncode != 0:
            raise AssertionError(f"coset {' '.join(map(str, arguments))}: {run.stderr}")
        return run.stdout

    def check(self, page):
        """In whatever width and colours: needs no network, complains of nothing, fits, can be read."""
        self.assertEqual(page.console, [], "the console")
        self.assertEqual(page.requests, [], "a page that asks for something besides itself")
        self.assertLessEqual(page.overflow(), 0, "wider than its window")
        self.assertEqual(page.faint_texts(), [], "texts of too little contrast")
        for role in ("button", "link", "image", "table"):
            self.assertNotIn("", page.names(role), f"a screen reader has no name for a {role}")
        self.assertTrue(page.evaluate("document.documentElement.lang"), "the language")
        self.assertTrue(page.evaluate("document.title"), "the title")

    def stops(self, page, most=200):
        """The elements that Tab leads to, from the top: a description of each, in order."""
        page.evaluate("document.activeElement.blur()")
        stops = []
        while len(stops) < most:
            page.press("Tab")
            stop = page.evaluate("""(() => {
                const e = document.activeElement;
                return e === document.body ? "" : e.id || e.getAttribute("aria-label") || e.textContent.trim();
            })()""")
            if not stop:
                break
            stops.append(stop)
        return stops

    def picture(self, page, name, **what):
        """A screenshot, see there: into docs/pictures if asked for, else thrown away. Small either way."""
        file = (ROOT / "docs/pictures" if PICTURES_WANTED else self.folder) / f"{name}.png"
        page.screenshot(file, **what)
        self.assertLess(file.stat().st_size, LARGEST_PICTURE, file)
