# SPDX-License-Identifier: Apache-2.0
"""What simulate.py prints and draws."""
import dataclasses
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
    return [outcome] + [each for each in others if each.setting.mapping == "block" and outcome.setting.mapping in ("shuffled", "in turn")
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
    """A plot for each machine with several sizes, and one over ranks for each size of those with many numbers of ranks."""
    if shutil.which("gnuplot") is None:
        raise SystemExit("simulate.py: --plots wants gnuplot, which is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    for outcome in outcomes:
        if len(outcome.setting.sizes) >= 4:
            plot(folder, f"{outcome.setting.experiment}_{outcome.setting.ranks}_{outcome.setting.mapping}", outcome.setting.name,
                 "bytes", over_sizes(outcome, outcomes))
    ranks = [each for each in outcomes if each.setting.experiment == "kolmakov-ranks"]
    for size in ranks[0].setting.sizes if len(ranks) > 3 else []:
        plot(folder, f"kolmakov_ranks_{size}", f"{length(size)}, ranks shuffled over 8 hosts", "ranks", over_ranks(ranks, size))


def over_sizes(outcome, outcomes):
    """[title][(bytes, seconds)], the model's choice first."""
    sizes = outcome.setting.sizes
    curves = {"coset, chosen by the model": [(size, compare(outcome, outcomes, size).seconds) for size in sizes]}
    for name in dict.fromkeys(name for size in sizes for name in [*outcome.setting.always[:2], *outcome.seconds[size]]
                              if name in outcome.setting.always[:2] or not is_ours(name)):
        curves[short(name)] = [(size, outcome.seconds[size][name]) for size in sizes if name in outcome.seconds[size]]
    return curves


def over_ranks(outcomes, size):
    def values(of):
        return [(each.setting.ranks, of(each)) for each in outcomes]
    curves = {"coset, chosen by the model": values(lambda each: each.seconds[size][each.chosen(size)]),
              "generalized, estimated r": values(lambda each: each.seconds[size][f"generalized(saved_steps={each.estimated[size]})"])}
    for name in ("rdb", "rab_rdb", "lr"):
        curves[short(f"simgrid:{name}")] = values(lambda each, name=name: each.seconds[size][f"simgrid:{name}"])
    return curves


def plot(folder, name, title, across, curves):
    file = folder / ("simulated_" + name.replace("-", "_").replace(" ", "_") + ".svg")
    lines = [f'set terminal svg size 760,380 font "sans,11" background "white"; set output "{file}"', "set logscale xy",
             "set key outside right", f'set xlabel "{across}"', 'set ylabel "microseconds, simulated"', f'set title "{title}" noenhanced']
    if across == "bytes":
        lines.append('set format x "10^{%T}"')
    for i, points in enumerate(curves.values()):
        lines += [f"$data{i} << END", *(f"{x} {seconds * 1e6:.5g}" for x, seconds in points), "END"]
    drawn = [f'$data{i} with linespoints linewidth {3 if i == 0 else 1} pointsize 0.4 title "{curve}" noenhanced'
             for i, curve in enumerate(curves)]
    subprocess.run(["gnuplot"], input="\n".join(lines + ["plot " + ", ".join(drawn)]) + "\n", text=True, check=True)
