# SPDX-License-Identifier: Apache-2.0
"""The sources' claims, and ours, as predicates over what was simulated."""
import dataclasses

from tables import compare, length, numberings


@dataclasses.dataclass
class Claim:
    text: str
    holds: bool
    figures: str


def check(outcomes):
    """Those whose experiments were run."""
    by_name = {}
    for each in outcomes:
        by_name.setdefault(each.setting.experiment, []).append(each)
    found = []
    for experiment, some in by_name.items():
        for prefix, claims in CLAIMS.items():
            if experiment == prefix:
                found += [claim for make in claims for claim in make(some)]
    return found


def ahead_of_simgrid(some):
    """To 1 MB faster than the best of SimGrid's, above at most 1.02 times as long."""
    for outcome in some:
        ratios, misses = [], []
        for size in outcome.setting.sizes:
            found = compare(outcome, some, size)
            ratios.append(found.ratio)
            if found.ratio >= 1 and (size <= 10 ** 6 or found.ratio > 1.02):
                misses.append(f"{length(size)}: {found.ratio:.3f} of {found.rival} by {found.chosen} ({found.price.steps} steps, "
                              f"{found.price.volume:.2f} vectors over the busiest link, {found.price.messages} messages there), "
                              f"{found.best_seconds / found.rival_seconds:.3f} by {found.best}")
        yield Claim(f"{outcome.setting.name}: what the model chooses is faster than the best of SimGrid's to 1 MB, and at most "
                    "1.02 times as long above", not misses,
                    f"{min(ratios):.3f} to {max(ratios):.3f} of its time" + "".join("; " + miss for miss in misses))


def proposed(outcome, size):
    """Seconds of the generalized algorithm: with the estimated number of saved steps, and with the best one."""
    saved = {name: value for name, value in outcome.seconds[size].items() if name.startswith("generalized(saved_steps")}
    return saved[f"generalized(saved_steps={outcome.estimated[size]})"], min(saved.values())


def flat_rivals(outcome, size):
    """Recursive doubling and halving, the ring, and who chooses among them: without a thought of hosts."""
    return min(value for name, value in outcome.seconds[size].items()
               if name in ("simgrid:rdb", "simgrid:rab_rdb", "simgrid:lr", "simgrid:ompi"))


def generalized_is_ahead(some):
    """Kolmakov and Zhang, figures 7 to 9: small and medium sizes, ranks shuffled."""
    for outcome in (each for each in some if each.setting.mapping == "shuffled"):
        ratios = {size: [took / flat_rivals(outcome, size) for took in proposed(outcome, size)] for size in outcome.setting.sizes}
        yield Claim(f"{outcome.setting.name}: the generalized algorithm with the best r is faster than recursive doubling, halving "
                    "and ring to 10 KB", all(best_r < 1 for size, (_, best_r) in ratios.items() if size <= 10_000),
                    "estimated and best r: " + ", ".join(f"{length(size)} {estimated:.2f} {best_r:.2f}"
                                                         for size, (estimated, best_r) in ratios.items()))


def ahead_over_ranks(some):
    """Figures 11 and 12: where the number of ranks is no power of two."""
    for size in some[0].setting.sizes:
        ratios = {each.setting.ranks: proposed(each, size)[1] / flat_rivals(each, size) for each in some}
        odd = {ranks: ratio for ranks, ratio in ratios.items() if ranks & (ranks - 1)}
        slower = [f"{ranks} ({ratio:.3f})" for ranks, ratio in odd.items() if ratio >= 1]
        yield Claim(f"{length(size)}, {min(ratios)} to {max(ratios)} ranks: the generalized algorithm with the best r is faster than "
                    "recursive doubling, halving and ring where ranks are no power of two", not slower,
                    f"{min(odd.values()):.2f} to {max(odd.values()):.2f} of their time" + (f", slower at {', '.join(slower)}" if slower else "")
                    + "; at powers of two " + ", ".join(f"{ratio:.2f}" for ranks, ratio in ratios.items() if ranks not in odd))


def ring_of_tree(outcome, some):
    """The tree's ring, and where it was simulated: ranks in the order of the switches."""
    return next((each, name) for each in numberings(outcome, some) for name in each.setting.always if name.startswith("tree_ring"))


def ring_has_links_alone(some):
    outcome, name = ring_of_tree(some[0], some)
    most = max(priced[name].messages for priced in outcome.prices.values())
    yield Claim(f"{outcome.setting.experiment}: in the tree's ring no link carries two messages of a step", most == 1,
                f"at most {most}, in the ring of ranks anyhow placed "
                + str(max(priced["ring"].messages for each in some for priced in each.prices.values())))


def ring_ahead_from(some):
    """Against what MPICH and LAM had: recursive halving, and reduce and broadcast by binomial trees."""
    for outcome in some:
        from_size = 262144 if outcome.setting.experiment.endswith("star") else 131072
        where, name = ring_of_tree(outcome, some)
        ratios = {}
        for size in outcome.setting.sizes:
            ratios[size] = where.seconds[size][name] / min(outcome.seconds[size][each] for each in ("simgrid:rab_rdb", "binomial"))
        behind = [size for size, ratio in ratios.items() if size >= from_size and ratio >= 1]
        price = where.prices[outcome.setting.sizes[-1]][name]
        yield Claim(f"{outcome.setting.name}: the tree's ring is ahead of MPICH's and LAM's from {length(from_size)}", not behind,
                    "of their time: " + ", ".join(f"{length(size)} {ratio:.2f}" for size, ratio in ratios.items())
                    + (f"; {price.steps} steps wait for the longest way each" if behind else ""))


def ahead_of_smp(some):
    for outcome in some:
        ratios = []
        for size in outcome.setting.sizes:
            rival = min(value for name, value in outcome.seconds[size].items() if name in ("simgrid:smp_rdb", "simgrid:smp_binomial"))
            ring = min(value for name, value in outcome.seconds[size].items() if name.startswith("tree_ring"))
            ratios.append((size, ring / rival, outcome.seconds[size][outcome.chosen(size)] / rival))
        behind = [length(size) for size, ring, _ in ratios if size >= 256 * outcome.setting.ranks and ring >= 1]
        price = outcome.prices[outcome.setting.sizes[0]][outcome.setting.always[0]]
        yield Claim(f"{outcome.setting.name}: the tree's ring is ahead of SMP-rdb and SMP-binomial from 256 B a rank",
                    not behind, "ring and the model's choice: " + ", ".join(f"{length(size)} {ring:.2f} {chosen:.2f}" for size, ring, chosen in ratios)
                    + (f"; behind at {', '.join(behind)}, of {price.steps} steps" if behind else ""))


def saved_over_ring(some):
    """On hosts joined ten times as slowly as their ranks. No schedule can save more than the links between hosts allow."""
    bounds = {2: (32, 42), 3: (21, 25)}
    found = {}
    for outcome in some:
        hosts, ranks = len(outcome.setting.shape), outcome.setting.ranks
        most = 100 * (1 - (hosts - 1) / hosts * ranks / (ranks - 1))  # 2(J-1)/J vectors for 2(P-1)/P
        for size, seconds in outcome.seconds.items():
            for name in ("unequal", "flexreduce"):
                took = min(value for key, value in seconds.items() if key.startswith(name))
                found.setdefault((hosts, size, name), []).append((100 * (1 - took / seconds["ring"]), most, outcome.setting.mapping))
    for (hosts, size, name), values in found.items():
        least, most = bounds[hosts]
        yield Claim(f"{hosts} hosts, {length(size)}: {name} saves {least} to {most} % of the ring's time, or more",
                    min(values)[0] >= least,
                    ", ".join(f"{shape} {saved:.1f} %" + (f" of {bound:.1f} that the links between hosts allow" if saved < least else "")
                              for saved, bound, shape in values))


def swing_ahead(some):
    for outcome in some:
        rows = []
        for size in outcome.setting.sizes:
            seconds = outcome.seconds[size]
            swing = seconds[outcome.setting.always[0]]
            rows.append((size, swing / seconds["generalized(saved_steps=0)"], swing / seconds["recursive_halving"]))
        yield Claim(f"{outcome.setting.name}: swing is ahead of generalized and of recursive halving",
                    all(row[1] < 1 and row[2] < 1 for row in rows),
                    ", ".join(f"{length(size)} {first:.2f} and {second:.2f}" for size, first, second in rows))


CLAIMS = {
    "kolmakov": [ahead_of_simgrid, generalized_is_ahead],
    "kolmakov-ranks": [ahead_over_ranks],
    "patarasuk-star": [ring_has_links_alone, ring_ahead_from],
    "patarasuk-chain": [ring_has_links_alone, ring_ahead_from],
    "patarasuk-smp": [ahead_of_smp],
    "flexreduce": [saved_over_ring],
    "growth-2-levels": [ahead_of_simgrid],
    "growth-3-levels": [ahead_of_simgrid],
    "torus": [swing_ahead],
}
