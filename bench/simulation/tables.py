# SPDX-License-Identifier: Apache-2.0
"""What simulate.py prints and draws."""
import dataclasses
import pathlib
import shutil
import subprocess


def is_ours(name):
    return not name.startswith("simgrid:")


def best(seconds, ours):
    """The fastest of coset's, or of SimGrid's."""
    names = [name for name in seconds if is_ours(name) == ours]
    return min(names, key=seconds.get) if names else None


def length(size):
    for unit, factor in (("M", 10 ** 6), ("K", 10 ** 3)):
        if size >= factor and size % (factor // 10) == 0:
            return f"{size / factor:g} {unit}B"
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


def micro(seconds):
    return f"{seconds * 1e6:.4g}"


def numberings(outcome, others):
    """Those of the same ranks on the same machine: coset numbers ranks host by host wherever they are."""
    return [outcome] + [each for each in others if each.setting.mapping == "block" and outcome.setting.mapping == "shuffled"
                        and (each.setting.experiment, each.setting.ranks) == (outcome.setting.experiment, outcome.setting.ranks)]


@dataclasses.dataclass
class Comparison:
    """At one size: what the model chooses of coset's, the best of those simulated, and the best of SimGrid's."""
    chosen: str
    seconds: float
    price: object  # the model's
    best: str
    best_seconds: float
    rival: str
    rival_seconds: float

    @property
    def ratio(self):
        return self.seconds / self.rival_seconds


def compare(outcome, others, size):
    some = numberings(outcome, others)
    where = min(some, key=lambda each: each.prices[size][each.chosen(size)].seconds)
    fastest = min(some, key=lambda each: each.seconds[size][best(each.seconds[size], True)])
    chosen, mine, rival = where.chosen(size), best(fastest.seconds[size], True), best(outcome.seconds[size], False)
    return Comparison(chosen, where.seconds[size][chosen], where.prices[size][chosen], mine, fastest.seconds[size][mine],
                      rival.removeprefix("simgrid:"), outcome.seconds[size][rival])


def row_of(outcome, others, size):
    found = compare(outcome, others, size)
    return [length(size), found.chosen, micro(found.seconds), micro(found.price.seconds), found.best, micro(found.best_seconds),
            found.rival, micro(found.rival_seconds), f"{found.ratio:.3f}"]


HEAD = ["bytes", "the model chooses", "us", "by the model", "best of ours", "us", "best of SimGrid's", "us", "chosen / SimGrid's"]


def markdown(head, rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head)] + rows)


def table_of(outcome, others):
    lines = [f"\n{outcome.setting.name}\n", markdown(HEAD, [row_of(outcome, others, size) for size in outcome.setting.sizes])]
    return "\n".join(lines + [f"\nstopped: {why}" for why in outcome.failed])


def claims_table(checked):
    return "\n" + markdown(["claim", "holds", "figures"], [[claim.text, "yes" if claim.holds else "no", claim.figures]
                                                            for claim in checked])


def short(name):
    """For legends, in which gnuplot would read underscores."""
    return name.replace("simgrid:", "SimGrid's ").replace("_", " ")


def draw(outcomes, folder):
    """A plot for each machine with several sizes: the model's choice, the best of ours, and SimGrid's algorithms."""
    if shutil.which("gnuplot") is None:
        raise SystemExit("simulate.py: --plots wants gnuplot, which is not installed")
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for outcome in outcomes:
        if len(outcome.setting.sizes) < 4:
            continue
        name = f"simulated_{outcome.setting.experiment}_{outcome.setting.ranks}_{outcome.setting.mapping}".replace("-", "_")
        script = plot_script(outcome, folder / f"{name}.svg")
        subprocess.run(["gnuplot"], input=script, text=True, check=True)


def plot_script(outcome, file):
    sizes, curves = outcome.setting.sizes, {}
    curves["coset, chosen by the model"] = [outcome.seconds[size][outcome.chosen(size)] for size in sizes]
    for name in sorted({name for size in sizes for name in outcome.seconds[size] if not is_ours(name)}):
        curves[short(name)] = [outcome.seconds[size].get(name) for size in sizes]
    for name in outcome.setting.always[:2]:
        curves[short(name)] = [outcome.seconds[size].get(name) for size in sizes]
    lines = [f'set terminal svg size 720,420 font "sans,11"; set output "{file}"', "set logscale xy", "set key outside right",
             'set format x "10^{%T}"', 'set xlabel "bytes"', 'set ylabel "microseconds, simulated"',
             f'set title "{outcome.setting.name}" noenhanced']
    for i, values in enumerate(curves.values()):
        lines.append(f"$data{i} << END")
        lines += [f"{size} {value * 1e6:.6g}" for size, value in zip(sizes, values) if value is not None]
        lines.append("END")
    drawn = [f'$data{i} using 1:2 with linespoints linewidth {3 if i == 0 else 1} pointsize 0.5 title "{title}" noenhanced'
             for i, title in enumerate(curves)]
    return "\n".join(lines + ["plot " + ", ".join(drawn)]) + "\n"
