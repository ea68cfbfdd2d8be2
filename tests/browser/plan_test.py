# SPDX-License-Identifier: Apache-2.0
"""The page of `coset plan --html`: what it shows is compared with a replay of the plan that shares no code with it."""
import json
import unittest
from fractions import Fraction

from harness.page_test_case import PageTestCase

CELLS = """[...document.querySelectorAll('.panel')].map(panel =>
  [...panel.querySelectorAll('.matrix .held.final')].reduce((sum, path) => sum + Number(path.dataset.cells), 0))"""


def replayed(plan):
    """By step, from 0: its transfers, {(from, to, kind): blocks}; what each (rank, block) holds by slot; volumes received."""
    ranks, held = plan["ranks"], {}
    for rank in range(ranks):
        for block in range(len(plan["blocks"])):
            held[rank, block] = {0: frozenset([rank])}
    sizes = [Fraction(block["size"]) for block in plan["blocks"]]
    received = [Fraction(0)] * ranks
    steps = [({}, dict(held), list(received))]
    for step in plan["steps"]:
        before = {place: dict(slots) for place, slots in held.items()}
        held, transfers, read = {place: dict(slots) for place, slots in held.items()}, {}, set()
        for a in step:
            rank, block = a["rank"], a["block"]
            values = [(held if peer == rank else before)[peer, block][slot] for peer, slot in a["from"]]
            held[rank, block][a["slot"]] = frozenset().union(*values)
            for peer, slot in a["from"]:
                if peer != rank and (rank, peer, block, slot) not in read:  # what is read twice counts once
                    read.add((rank, peer, block, slot))
                    transfers.setdefault((peer, rank, "fold" if len(a["from"]) > 1 else "copy"), set()).add(block)
                    received[rank] += sizes[block]
        steps.append((transfers, held, list(received)))
    return steps


def runs(numbers):
    """{0, 1, 2, 5} as "0-2,5"."""
    parts = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in parts)


class PlanPage(PageTestCase):
    @classmethod
    def page_of(cls, name, *arguments):
        file = cls.folder / f"{name}.html"
        file.write_text(cls.coset("plan", *arguments, "--html"), encoding="utf-8")
        return file

    def open(self, file, fragment="", **window):
        page = self.browser.open(file, **window)
        if fragment:
            self.go(page, fragment)
        return page

    def go(self, page, fragment):
        page.evaluate(f"new Promise(done => {{ addEventListener('hashchange', () => done(), {{once: true}}); "
                      f"location.hash = {json.dumps(fragment)}; }})")

    def arrows(self, page):
        return page.evaluate("[...document.querySelectorAll('.arrows path')].map(arrow => "
                             "[Number(arrow.dataset.from), Number(arrow.dataset.to), arrow.classList[0]])")

    def test_stepping_by_keyboard_shows_what_a_replay_finds(self):
        for arguments in (("recursive_halving", "-r", 6), ("generalized(saved_steps=1)", "-r", 7), ("direct", "-r", 5),
                          ("unequal", "--nodes", "3,2", "-r", 5), ("bruck_ho(n=2)", "-r", 7)):
            with self.subTest(arguments):
                steps = replayed(json.loads(self.coset("plan", *arguments, "--json")))
                page = self.open(self.page_of("stepped", *arguments))
                page.focus("#play")
                for number, (transfers, held, received) in enumerate(steps):
                    self.assertEqual(page.text("#number"), f"step {number} of {len(steps) - 1}")
                    self.assertEqual({tuple(arrow) for arrow in self.arrows(page)}, set(transfers), "arrows")
                    self.assertEqual(len(self.arrows(page)), len(transfers))
                    self.compare_holdings(page, held)
                    self.compare_transfers(page, transfers)
                    shown = page.evaluate("[...document.querySelectorAll('.ranks title')].map(title => title.textContent)")
                    for rank, volume in enumerate(received):
                        self.assertTrue(shown[rank].startswith(f"rank {rank}: received {volume}, "), shown[rank])
                    page.press("ArrowRight")
                page.press("Home", "ArrowRight", "ArrowLeft")
                self.assertEqual(page.text("#number"), f"step 0 of {len(steps) - 1}")
                self.check(page)

    def compare_holdings(self, page, held):
        """Of all cells, the slots' sets in the words of the readout; of the table, the fullest."""
        for (rank, block), slots in held.items():
            text = page.evaluate(f"page.panels[0].holdingText({rank}, {block})")
            for contributors in slots.values():
                self.assertIn(f"{{{runs(contributors)}}}", text)
            self.assertEqual(text.count("{"), len(slots))

    def compare_transfers(self, page, transfers):
        """The table of the step, which is open from the first look on."""
        page.evaluate("document.querySelector('details').open || (document.querySelector('details').open = true)")
        page.evaluate("new Promise(done => setTimeout(done))")
        rows = page.evaluate("[...document.querySelectorAll('details tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")
        self.assertEqual({tuple(row[:4]) for row in rows},
                         {(str(a), str(b), kind, runs(blocks)) for (a, b, kind), blocks in transfers.items()})

    def test_at_the_end_all_results_are_complete_everywhere(self):
        page = self.open(self.page_of("several", "ring", "recursive_halving", "direct", "-r", 8))
        self.assertEqual(page.evaluate(CELLS), [0, 0, 0])
        page.press("End")
        self.assertEqual(page.evaluate(CELLS), [64, 64, 64])
        self.assertEqual(page.text("#number"), "step 14 of 14", "of the longest")
        self.check(page)

    def test_results_of_other_collectives_are_those_required(self):
        for verb, inputs, results in (("reduce", 25, 5), ("broadcast", 5, 25), ("scan", 25, 25), ("reduce_scatter", 25, 5),
                                      ("allgather", 5, 25)):
            name = "binomial" if verb in ("reduce", "broadcast") else "direct"
            page = self.open(self.page_of(verb, name, "-r", 5, "-c", verb, *(["--root", 2] if name == "binomial" else [])))
            blocks = page.evaluate("page.plans[0].blocks")
            self.assertIn(blocks, (1, 5))
            shown, = page.evaluate(CELLS.replace(".held.final", ".held"))
            self.assertEqual(shown, inputs * blocks // 5, f"inputs of {verb}")
            page.press("End")
            shown, = page.evaluate(CELLS)
            self.assertEqual(shown, results * blocks // 5, f"results of {verb}")

    def test_every_kind_of_schedule_is_drawn_in_every_layout(self):
        for ranks, names in ((6, ("product(dims=3x2)", "latency", "capped(cap=2)", "circulant", "dissemination", "binomial",
                                  "leaders(nodes=3+3)", "flexreduce(nodes=3+3)", "tree_ring(nodes=2+4)", "elimination_3_2")),
                             (2, ("ring", "direct")), (1, ("ring", "direct"))):
            page = self.open(self.page_of("every", *names, "-r", ranks))
            for layout in ("ring", "nodes", "torus", "matrix"):
                self.go(page, f"layout={layout}")
                page.evaluate("(() => { for (let step = 0; step <= page.last; step++) page.go(step); })()")
                self.assertIsNone(page.evaluate("document.querySelector('#panels').innerHTML.match(/.{30}(NaN|undefined|Infinity)/)"))
            self.assertEqual(page.evaluate("page.panels.map(panel => panel.complete() / panel.plan.results)"), [1] * len(names))
            self.check(page)

    def test_plans_stand_side_by_side_and_can_be_left_out(self):
        page = self.open(self.page_of("two", "ring", "product(dims=4x2)", "-r", 8))
        ring, product = page.evaluate("[...document.querySelectorAll('.panel')].map(e => [e.offsetTop, e.offsetLeft])")
        self.assertEqual(ring[0], product[0])
        self.assertLess(ring[1], product[1])
        page.press("ArrowRight")
        self.assertEqual(page.evaluate("page.panels.map(panel => panel.picture.querySelectorAll('.arrows path').length)"), [8, 24])
        page.click("#show0")
        self.assertEqual(page.evaluate("[...document.querySelectorAll('.panel')].map(panel => panel.hidden)"), [True, False])
        self.assertIn("algorithm=product", page.evaluate("location.hash"))
        self.assertEqual(page.text("#number"), "step 1 of 14", "the control does not jump")

    def test_an_address_opens_step_layout_and_plans(self):
        file = self.page_of("linked", "ring", "recursive_halving", "-r", 8)
        page = self.open(file, "step=3&layout=torus&torus=2x4&algorithm=recursive_halving")
        self.assertEqual(page.text("#number"), "step 3 of 14")
        self.assertEqual(page.evaluate("[...document.querySelectorAll('.panel')].map(panel => panel.hidden)"), [True, False])
        self.assertEqual(page.evaluate("[page.panels[1].network.columns, page.panels[1].network.rows]"), [2, 4])
        said = page.evaluate("location.hash")
        page.press("ArrowRight")
        self.assertEqual(page.evaluate("location.hash"), said.replace("step=3", "step=4"))
        self.go(page, "step=99&layout=teapot")
        self.assertEqual((page.text("#number"), page.evaluate("document.querySelector('#layout').value")), ("step 14 of 14", "ring"))
        self.check(page)

    def test_links_carry_volume_times_hops(self):
        page = self.open(self.page_of("links", "ring", "recursive_halving", "-r", 8))
        page.press("End")
        # The ring: seven steps of 1/8 from each rank to one neighbour, and seven to the other.
        self.assertEqual(page.evaluate("page.panels[0].linkText()"), "Busiest link so far: 0 → 1, 7/8 vectors; all links together 14.")
        plan = json.loads(self.coset("plan", "--plan", "recursive_halving", "-r", 8, "--json"))
        hops = sum(min(abs(a - b), 8 - abs(a - b)) * Fraction(len(blocks), 8)
                   for transfers, _, _ in replayed(plan) for (a, b, _), blocks in transfers.items())
        self.assertIn(f"all links together {hops}.", page.evaluate("page.panels[1].linkText()"))
        self.go(page, "step=14&layout=nodes&nodes=4%2B4")
        crossing = sum(Fraction(len(blocks), 8) for transfers, _, _ in replayed(plan)
                       for (a, b, _), blocks in transfers.items() if (a < 4) != (b < 4))
        self.assertIn(f"all links together {2 * crossing}.", page.evaluate("page.panels[1].linkText()"))

    def test_cells_are_read_by_pointer_and_keyboard(self):
        page = self.open(self.page_of("read", "ring", "-r", 4), "step=1")
        page.evaluate("page.panels[0].partials.box.id = 'partials'; page.panels[0].partials.readout.id = 'readout'")
        page.focus("#partials")
        self.assertEqual(page.text("#readout"), page.evaluate("page.panels[0].holdingText(0, 0)"))
        page.press("ArrowDown", "ArrowRight", "ArrowRight")
        self.assertEqual(page.text("#readout"), page.evaluate("page.panels[0].holdingText(1, 2)"))
        self.assertEqual(page.text("#number"), "step 1 of 6", "there the keys do not step")
        page.evaluate("document.activeElement.blur()")
        self.assertEqual(page.text("#readout"), "")
        page.hover("#partials svg .held", 0.01, 0.01)
        self.assertTrue(page.text("#readout").startswith("Rank "))
        phone = self.open(self.folder / "read.html", width=360, height=740, phone=True)
        at = phone.place_of(".matrix:not([hidden]) svg .held", 0.4, 0.9)
        for kind, points in (("touchStart", [at]), ("touchEnd", [])):
            phone.ask("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        self.assertEqual(phone.evaluate("page.panels[0].partials.readout.textContent"), "Rank 3, block 1: {3}, its input")

    def test_everything_is_reached_by_tab_and_announced(self):
        page = self.open(self.page_of("reached", "ring", "direct", "-r", 4))
        stops = self.stops(page)
        for wanted in ("layout", "show0", "show1", "first", "back", "play", "forward", "last", "slider"):
            self.assertIn(wanted, stops)
        self.assertEqual(sum("arrow keys move" in stop for stop in stops), 2, "the partial results of both")
        page.focus("#forward")
        page.press("Enter")
        self.assertIn("ring: Step 1 of 6", page.evaluate("document.querySelector('#announcement').textContent"))
        self.assertIn("direct: Step 1 of 2", page.evaluate("document.querySelector('#announcement').textContent"))

    def test_play_goes_to_the_end_and_stops(self):
        page = self.open(self.page_of("played", "direct", "-r", 4))
        page.click("#play")
        self.assertEqual(page.text("#play"), "Pause")
        page.evaluate("new Promise(done => { const look = () => page.isPlaying() ? setTimeout(look, 20) : done(); look(); })")
        self.assertEqual((page.text("#number"), page.text("#play")), ("step 2 of 2", "Play"))

    def test_64_ranks_are_arrows_and_100_a_matrix(self):
        arrows = self.open(self.page_of("arrows", "ring", "-r", 64), "step=1")
        self.assertEqual(len(self.arrows(arrows)), 64)
        self.check(arrows)
        arrows.hover("circle[data-rank='7']")
        self.assertEqual(arrows.count(".arrows.dim path.of"), 2, "what it sends and what it reads")
        arrows.hover("h1")
        self.assertEqual(arrows.count(".arrows.dim, .arrows path.of"), 0)
        many = self.open(self.page_of("many", "direct", "-r", 64), "step=1")
        self.assertEqual((len(self.arrows(many)), many.count(".arrows.thin")), (64 * 63, 1))
        matrix = self.open(self.page_of("matrix", "generalized", "-r", 100), "step=1")
        self.assertEqual((matrix.count(".picture:not([hidden])"), matrix.evaluate("page.panels[0].messages.box.hidden")), (0, False))
        self.assertEqual(matrix.evaluate("Number(document.querySelector('.matrix .fold').dataset.cells)"), 100)
        self.check(matrix)

    def test_it_can_be_read_in_the_dark_and_on_a_phone(self):
        file = self.page_of("everywhere", "product(dims=4x2)", "ring", "-r", 8)
        for window in ({"dark": True}, {"width": 360, "height": 740, "phone": True},
                       {"width": 360, "height": 740, "phone": True, "dark": True}):
            for layout in ("ring", "nodes", "torus", "matrix"):
                page = self.open(file, f"step=2&layout={layout}", **window)
                self.check(page)
        light, dark = self.open(file), self.open(file, dark=True)
        ground = "getComputedStyle(document.body).backgroundColor"
        self.assertNotEqual(light.evaluate(ground), dark.evaluate(ground))

    def test_names_cannot_end_the_script(self):
        plan = json.loads(self.coset("plan", "--plan", "ring", "-r", 2, "--json"))
        plan["parameters"]["tree"] = "</script><script>throw 1</script><!--<script>"
        file = self.folder / "wicked.json"
        file.write_text(json.dumps(plan))
        page = self.open(self.page_of("wicked", file))
        self.assertIn("tree=</script><script>throw 1</script><!--<script>", page.text("h2"))
        self.check(page)

    def test_a_picture_for_the_documents(self):
        page = self.open(self.page_of("pictured", "recursive_halving", "-r", 8), "step=2", width=1000, height=790)
        self.picture(page, "plan", whole=False)


if __name__ == "__main__":
    unittest.main()
