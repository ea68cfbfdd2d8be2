# SPDX-License-Identifier: Apache-2.0
"""The page of `coset bench --report`, and that of `--scaling`: charts, heat map, values by mouse and keyboard."""
import json
import re
import unittest
import urllib.parse

from harness.page_test_case import PICTURES_WANTED, PageTestCase

CHARTS = ["#time-chart", "#bandwidth-chart", "#ratio-chart"]


def pixels_of(page, chart):
    """How many pixels of a chart have the colour of coset's line."""
    return page.evaluate(f"""(() => {{
        const canvas = document.querySelector("{chart} canvas"), probe = document.createElement("i");
        probe.style.color = "var(--coset)";
        document.body.append(probe);
        const [r, g, b] = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
        probe.remove();
        const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        let found = 0;
        for (let i = 0; i < data.length; i += 4) found += data[i] === r && data[i + 1] === g && data[i + 2] === b;
        return found;
    }})()""")


class Report(PageTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.file, cls.json, cls.csv = (cls.folder / name for name in ("report.html", "report.json", "report.csv"))
        cls.coset("bench", "allreduce", "8", "1K", "64K", "1M", "--rounds", "7", "-n", "50", "--report", cls.file, "--json", cls.json, "--csv", cls.csv)
        cls.figures = json.loads(cls.json.read_text(encoding="utf-8"))

    def page(self, **how):
        return self.browser.open(self.file, **how)

    def own(self, at):
        """Coset's time at a size, as the page writes it."""
        row = self.figures["sizes"][at]["states"][0]["rows"][0]
        return row["median_ns"] / 1000

    def test_in_light_and_dark_on_screens_and_phones_it_keeps_what_pages_have_to(self):
        for how in ({}, {"dark": True}, {"width": 360, "height": 740, "phone": True},
                    {"width": 360, "height": 740, "phone": True, "dark": True}):
            with self.subTest(how):
                page = self.page(**how)
                page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
                self.check(page)

    def test_every_chart_has_curves_in_the_colours_of_light_and_of_dark(self):
        for dark in (False, True):
            page = self.page(dark=dark)
            for chart in CHARTS:
                self.assertGreater(pixels_of(page, chart), 100, (chart, dark))
        backs = [self.page(dark=dark).evaluate("getComputedStyle(document.body).backgroundColor") for dark in (False, True)]
        self.assertEqual(backs[0], "rgb(255, 255, 255)")
        self.assertNotEqual(*backs)

    def test_pointing_at_a_chart_shows_the_values_there(self):
        page = self.page()
        page.hover("#time-chart .u-over", across=0.999)
        shown = page.text("#time-chart-values")
        self.assertRegex(shown, r"^1 MiB: coset [\d.]+ \([\d.]+ to [\d.]+\), ")
        self.assertAlmostEqual(float(re.search(r"coset ([\d.]+)", shown)[1]) / self.own(3), 1, 2)

    def test_the_keyboard_moves_along_a_chart_and_tells_screen_readers(self):
        page = self.page()
        page.evaluate("document.querySelector('#time-chart').previousElementSibling.scrollIntoView()")
        page.focus("#time-chart")
        page.press("Home", "ArrowRight")
        for text in (page.text("#time-chart-values"), page.evaluate("document.activeElement.getAttribute('aria-valuetext')")):
            self.assertRegex(text, "^1 KiB: coset ")
        page.press("End", "ArrowRight")
        self.assertRegex(page.text("#time-chart-values"), "^1 MiB: coset ")
        self.assertEqual(page.evaluate("document.activeElement.getAttribute('aria-valuenow')"), "3")
        self.assertEqual(len(page.names("slider")), len(CHARTS))

    def test_lines_are_switched_by_buttons(self):
        page = self.page()
        before = pixels_of(page, "#time-chart")
        page.focus("#time .legend button")
        page.press("Space")
        self.assertEqual(page.evaluate("document.activeElement.getAttribute('aria-pressed')"), "false")
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.assertLess(pixels_of(page, "#time-chart"), before / 10)
        page.hover("#time-chart .u-over", across=0.999)
        self.assertNotIn(": coset ", page.text("#time-chart-values"))

    def test_all_lines_can_be_switched_off_and_on_again(self):
        page = self.page()
        buttons = "[...document.querySelectorAll('.legend button')]"
        shown = page.evaluate(f"{buttons}.map(each => each.getAttribute('aria-pressed'))")
        for wanted in ("each.getAttribute('aria-pressed') === 'true'", f"{json.dumps(shown)}[at] === 'true'"):
            page.evaluate(f"{buttons}.forEach((each, at) => {wanted} && each.click())")
            page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
            self.check(page)
        for chart in CHARTS:
            self.assertGreater(pixels_of(page, chart), 100, chart)

    def test_every_rival_stands_in_the_legend_and_in_the_table_beside_each_chart(self):
        page = self.page()
        rivals = {row["who"] for size in self.figures["sizes"] for row in size["states"][0]["rows"] if row["family"] != "reference"}
        for part in ("time", "bandwidth"):
            buttons = page.evaluate(f"[...document.querySelectorAll('#{part} .legend button')].map(each => each.textContent)")
            heads = page.evaluate(f"[...document.querySelectorAll('#{part} details thead th')].map(each => each.textContent)")
            self.assertEqual(set(buttons), rivals)
            self.assertEqual(set(heads[1:]), rivals)
            self.assertEqual(page.count(f"#{part} details tbody tr"), 4)

    def test_the_machine_and_its_latencies(self):
        page = self.page()
        cores = page.evaluate("JSON.parse(document.getElementById('figures').textContent).machine.cores")
        self.assertEqual(page.count(".machine .core"), cores)
        self.assertEqual(page.count(".machine .core.used"), len(self.figures["processors"]))
        if cores == 1:
            self.skipTest("one core has no latencies")
        self.assertEqual(page.count("#heat td[tabindex]"), cores * (cores - 1))
        page.hover("#heat td[tabindex]")
        by_mouse = page.text("#machine [role=status]")
        self.assertRegex(by_mouse, r"^From processor \d+ to processor \d+: [\d.]+ ns one way, ")
        page.focus("#heat td[tabindex='0']")
        page.press("ArrowDown")
        self.assertRegex(page.text("#machine [role=status]"), "^From processor")
        self.assertNotEqual(page.text("#machine [role=status]"), by_mouse)

    def test_tab_leads_through_the_page_from_top_to_bottom(self):
        page = self.page()
        stops = self.stops(page)
        order = ["To the content", "Results", "time-chart", "coset", "ratio-chart", "coset-bench-allreduce.json"]
        places = [stops.index(stop) for stop in order]
        self.assertEqual(places, sorted(places), stops)

    def test_plans_say_why(self):
        page = self.page()
        plans = page.text("#plans table")
        self.assertIn("direct", plans)
        self.assertRegex(plans, "cheapest|few ranks|a rule")
        self.assertEqual(page.count("#plans details"), 4)

    def test_raw_data_is_what_the_files_hold(self):
        page = self.page()
        for name, file in (("coset-bench-allreduce.json", self.json), ("coset-bench-allreduce.csv", self.csv)):
            link = page.evaluate(f"document.querySelector('a[download=\"{name}\"]').href")
            kept = urllib.parse.unquote(link.split(",", 1)[1])
            wanted = file.read_text(encoding="utf-8")
            same = (json.loads(kept) == json.loads(wanted)) if name.endswith("json") else kept == wanted
            self.assertTrue(same, name)

    def test_environment_names_compiler_kernel_and_variables(self):
        shown = self.page().text("#environment")
        for words in (self.figures["compiler"], self.figures["kernel"], self.figures["commit"], "OMP_WAIT_POLICY"):
            self.assertIn(words, shown)

    def test_pictures(self):
        file = self.file
        if PICTURES_WANTED:
            file = self.folder / "all.html"
            self.coset("bench", "--report", file)
        for dark in (False, True):
            page = self.browser.open(file, width=900, dark=dark)
            page.hover("#time-chart .u-over", across=0.58)
            self.picture(page, "report-dark" if dark else "report", of="#time")


class Scaling(PageTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.file, cls.scaling = cls.folder / "scaling.html", cls.folder / "scaling.json"
        cls.coset("bench", "allreduce", "4K", "64K", "--scaling", "--rounds", "2", "-n", "20", "--report", cls.file, "--json",
                  cls.scaling)

    def test_what_limits_each_size_stands_first(self):
        runs = [run for run in json.loads(self.scaling.read_text(encoding="utf-8"))["runs"] if "limit" in run]
        most = max(run["ranks"] for run in runs)
        for dark in (False, True):
            page = self.browser.open(self.file, dark=dark)
            self.check(page)
            for run in runs:
                if run["ranks"] == most and run["timing"] == "cycle" and run["place"] == "compact":
                    self.assertIn(run["limit"]["words"], page.text(f"#limit-{run['size']}"))

    def test_points_below_the_roof(self):
        page = self.browser.open(self.file)
        if page.count("#roof-chart") == 0:
            self.skipTest("a machine that changed in every round")
        self.assertGreater(pixels_of(page, "#roof-chart"), 20)
        page.focus("#roof-chart")
        page.press("End")
        self.assertRegex(page.text("#roof-chart-values"), r"^64 KiB: allreduce [\d.]+, roof: folds")

    def test_on_the_page_of_a_collective(self):
        file = self.folder / "both.html"
        self.coset("bench", "allreduce", "8", "--rounds", "1", "-n", "2", "--against", "std", "--report", file, "--scaling-file",
                   self.scaling)
        page = self.browser.open(file)
        self.check(page)
        self.assertEqual([page.count(part) for part in ("#time-chart", "#limits", "#streams")], [1, 1, 1])

    def test_beside_another_machine(self):
        file = self.folder / "beside.html"
        self.coset("bench", "--scaling", "--resume", self.scaling, "--beside", self.scaling, "--report", file)
        page = self.browser.open(file)
        self.check(page)
        self.assertIn("1.00× [", page.text("#beside"))


class MadeUp(PageTestCase):
    """Pages of other data than this machine can show."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.file = cls.folder / "some.html"
        cls.coset("bench", "allreduce", "8", "--rounds", "1", "-n", "2", "-t", "1", "--against", "std", "--report", cls.file)

    def page_of(self, change, **how):
        """The page whose data this function has changed."""
        text = self.file.read_text(encoding="utf-8")
        begin = text.index('id="figures">') + len('id="figures">')
        end = text.index("</script>", begin)
        data = json.loads(text[begin:end])
        change(data)
        file = self.folder / "changed.html"
        file.write_text(text[:begin] + json.dumps(data).replace("<", "\\u003c") + text[end:], encoding="utf-8")
        return self.browser.open(file, **how)

    def test_a_page_without_any_size_still_says_what_it_is(self):
        """As after Ctrl-C during the first size."""
        page = self.page_of(lambda data: data["bench"].update(sizes=[], partial={"measured": 0, "asked": 1}))
        self.check(page)
        self.assertIn("Partial: 0 of 1 sizes were measured", page.text("#partial"))
        self.assertEqual(page.count("#machine"), 1)
        self.assertNotIn("Partial", self.browser.open(self.file).text())

    def test_a_machine_of_many_cores(self):
        """Two nodes of four L3s of eight cores of two processors each."""
        def change(data):
            data["machine"].update(
                cores=64, nodes=[{"os_index": n, "bytes": 1 << 38} for n in range(2)], team=list(range(64)),
                processors=[{"os_index": 64 * thread + core, "core": core, "l2": core, "l3": core // 8, "node": core // 32,
                             "package": core // 32, "thread": thread} for core in range(64) for thread in range(2)],
                latency_ns=[[0 if a == b else 30 + 100 * (a // 8 != b // 8) + 200 * (a // 32 != b // 32) for b in range(64)]
                            for a in range(64)])
            data["bench"]["processors"] = list(range(64))
        for how in ({}, {"width": 360, "height": 740, "phone": True}, {"dark": True}):
            page = self.page_of(change, **how)
            self.check(page)
            self.assertEqual([page.count(f".machine {kind}") for kind in (".node", ".core.used", ".cache")], [2, 64, 8])
            self.assertEqual(page.evaluate("""new Set([...document.querySelectorAll('#heat td[tabindex]')]
                .map(cell => getComputedStyle(cell).backgroundColor)).size"""), 3)
            self.assertLess(page.evaluate("document.querySelector('#heat').offsetWidth"), 64 * 12, "small cells have small heads")
            page.focus("#heat td[tabindex='0']")
            page.press("ArrowUp")
            self.assertIn("From processor 63 to processor", page.text("#machine [role=status]"))

    def test_sizes_and_rivals_without_figures_are_named(self):
        page = self.page_of(lambda data: data["bench"]["sizes"][0].update(states=[]))
        self.check(page)
        self.assertIn("No round without a change of the machine's state: 8 B.", page.text("#summary"))

        def no_rivals(data):
            for state in data["bench"]["sizes"][0]["states"]:
                state.update(best_rival=None, rows=[row for row in state["rows"] if row["family"] in ("coset", "reference")])
        page = self.page_of(no_rivals)
        self.check(page)
        self.assertIn("No rival has a figure.", page.text("#summary"))

    def test_one_core_has_no_latencies_and_a_barrier_no_bandwidth(self):
        def change(data):
            data["machine"].update(cores=1, latency_ns=[[0]], team=[0])
            data["bench"].update(verb="barrier", sizes=data["bench"]["sizes"][:1])
            data["bench"]["sizes"][0].update(size=0)
            data["why"][0].update(bytes=0)
        page = self.page_of(change)
        self.check(page)
        self.assertIn("No latencies", page.text("#machine"))
        self.assertEqual([page.count(part) for part in ("#heat", "#bandwidth", "#time-chart", "#plans")], [0, 0, 1, 1])


if __name__ == "__main__":
    unittest.main()
