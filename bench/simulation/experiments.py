# SPDX-License-Identifier: Apache-2.0
"""The experiments: machines, ranks, sizes, and who takes part. Parameters are the sources' where these give them."""
import dataclasses
import math

from platforms import (Costs, FatTree, Link, Torus, block, chain, in_turn, nodes_of, shuffled, star, three_level_tree,
                       two_level_tree)

# Of SimGrid 3.32; others of its algorithms stop or add wrongly for numbers of ranks that are no powers of two.
COMPARATORS = ["ompi", "mpich", "mvapich2", "mvapich2_two_level", "lr", "rdb", "rab_rdb", "smp_rdb", "smp_binomial",
               "smp_rsag_lr"]
NATIVE = ["recursive_doubling", "recursive_halving"]
BY_STEPS = [name for name in COMPARATORS if name not in ("ompi", "lr", "smp_rsag_lr")]  # without rings of all ranks

TEN_GIGABIT, GIGABIT = 1.25e9, 1.25e8
INSIDE = Link(10e9, 0.3e-6)
# A message costs 2 us and two links: 30 us in all, as in the table 2 of Kolmakov and Zhang.
ETHERNET = Link(TEN_GIGABIT, 14e-6)
# Of hosts of one rank, so that a byte costs 10 ns as it does there, where what shares a link is part of the parameter.
KOLMAKOV_LINK = Link(1e8, 14e-6)
USUAL = Costs(overhead=1e-6, combine=2e-10)


@dataclasses.dataclass
class Setting:
    """One machine with ranks on it, and whom to ask how long allreduces of these sizes take."""
    experiment: str
    machine: object
    ranks: int
    sizes: list
    candidates: list
    mapping: str = "block"
    costs: Costs = USUAL
    comparators: list = dataclasses.field(default_factory=lambda: list(COMPARATORS))
    always: list = dataclasses.field(default_factory=list)  # simulated whatever the model says of them
    kept: int = 3  # and so many of those that the model finds best, at each size
    settings: list = dataclasses.field(default_factory=list)  # of SimGrid's
    flat: tuple = (3e-5, 1e-8)  # seconds of a message and of a byte, for the estimate of Kolmakov and Zhang

    def placement(self):
        """By how the mapping ends: "block", "in turn", "shuffled", and one shuffle after the other, "shuffled 2" …."""
        if "shuffled" in self.mapping:
            return shuffled(self.machine, self.ranks, int(self.mapping.rpartition("shuffled")[2] or 1))
        return (in_turn if self.mapping.endswith("in turn") else block)(self.machine, self.ranks)

    @property
    def name(self):
        return f"{self.experiment}, {self.ranks} ranks, {self.mapping}"


def steps_of(ranks, radix=2):
    count = 0
    while radix ** count < ranks:
        count += 1
    return count


def generalized(ranks, radices=(2,)):
    return [f"generalized(radix={k},saved_steps={r})" if k != 2 else f"generalized(saved_steps={r})"
            for k in radices for r in range(steps_of(ranks, k) + 1)]


def known(ranks):
    """Whole vectors, halves and rings, for any number of ranks."""
    return (generalized(ranks, (2, 3, 4, 8)) + [f"latency(radix={k})" for k in (2, 3, 4, 8)]
            + ["ring", "recursive_doubling", "recursive_halving", "elimination_3_2", "bruck_ho", "swing"])


def in_segments(names, counts=(4, 8, 16)):
    """Segments follow each other step by step, as the library has four of them under way at once between hosts."""
    return [f"{name}/{count}" for name in names for count in counts]


def swing_over(dimensions):
    """Swing on a torus: exchanges over distances 1, -1, 3, -5 ... along each dimension in turn, the last one fastest."""
    shifts = []
    for step in range(steps_of(max(dimensions))):
        stride = 1
        for size in reversed(dimensions):
            if step < steps_of(size):
                shifts.append(((1 - (-2) ** (step + 1)) // 3) % size * stride)
            stride *= size
    return f"fold(group={'x'.join(f'd{size}' for size in reversed(dimensions))},shifts={'+'.join(map(str, shifts))})"


def text_of(nodes):
    """20+20+20+7 as the command reads it: 20*3+7."""
    runs = []
    for size in nodes:
        if runs and runs[-1][0] == size:
            runs[-1][1] += 1
        else:
            runs.append([size, 1])
    return "+".join(f"{size}*{count}" if count > 1 else str(size) for size, count in runs)


def by_hosts(nodes, dims=(), widths=(0, 2)):
    """What goes host by host; `dims` of products between equal hosts, `widths` of folds inside, 0 for all ranks at once."""
    text, hosts = text_of(nodes), len(nodes)
    between = [f"between=generalized,saved_steps={r}" for r in range(steps_of(hosts) + 1)]
    between += [f"between=product,dims={d},saved_steps={s}" for d in dims or [str(hosts)] for s in (0, d.count("x") + 1)]
    leaders = [0] + [count for count in (1, 2, 4) if count <= min(nodes)]
    return ([f"two_level(nodes={text},leaders={k},inner={width},{way})" for k in leaders for width in widths for way in between]
            + [f"unequal(nodes={text},saved_steps={r})" for r in range(steps_of(hosts) + 1)]
            + [f"leaders(nodes={text})", f"leaders(nodes={text},between=recursive_doubling)"])


def rings(nodes):
    return [f"tree_ring(nodes={text_of(nodes)})", f"flexreduce(nodes={text_of(nodes)})"]


def kolmakov(sizes):
    """8 hosts of 20 cores at 10 Gbit/s, 127 ranks. Folds over all ranks know nothing of hosts, wherever ranks are; coset
    numbers ranks host by host, so that what goes by hosts is the same for both mappings."""
    machine = star(8, ETHERNET, INSIDE, 20)
    nodes = nodes_of(block(machine, 127))
    for mapping in ("shuffled", "block"):
        hosts = by_hosts(nodes) + rings(nodes) if mapping == "block" else []
        yield Setting("kolmakov", machine, 127, sizes, known(127) + hosts, mapping,
                      always=generalized(127))


FOUR = ["ompi", "rdb", "rab_rdb", "lr"]


def kolmakov_ranks(counts):
    """Figures 11 and 12, over the number of ranks."""
    machine = star(8, ETHERNET, INSIDE, 20)
    for ranks in counts:
        yield Setting("kolmakov-ranks", machine, ranks, [425, 9000], known(ranks), "shuffled", kept=2,
                      comparators=FOUR, always=generalized(ranks))


def kolmakov_shuffles(sizes, counts):
    """Two more shuffles of the same ranks: whether it matters which ranks meet on a host."""
    machine = star(8, ETHERNET, INSIDE, 20)
    for mapping in ("shuffled 2", "shuffled 3"):
        for ranks in counts:
            yield Setting("kolmakov-shuffles", machine, ranks, sizes if ranks == 127 else [425, 9000], generalized(ranks),
                          mapping, comparators=FOUR, always=generalized(ranks))


def kolmakov_alone(sizes, counts):
    """Hosts of one rank, which share no links: what the source's model is of."""
    for ranks in counts:
        ours = generalized(ranks) + ["recursive_doubling"]
        yield Setting("kolmakov-alone", star(ranks, KOLMAKOV_LINK, INSIDE, 1), ranks,
                      sizes if ranks == 127 else [425, 9000], ours, "alone", comparators=FOUR, always=ours)


def kolmakov_eager(counts):
    """Short messages leave when their sender has them, as MPI libraries send them, not when their receiver asks for them."""
    for ranks in counts:
        latency = [f"generalized(saved_steps={steps_of(ranks)})", "recursive_doubling"]
        for mapping, machine in (("alone", star(ranks, ETHERNET, INSIDE, 1)), ("shuffled", star(8, ETHERNET, INSIDE, 20))):
            yield Setting("kolmakov-eager", machine, ranks, [425], latency, mapping, comparators=["rdb"], always=latency,
                          settings=["smpi/async-small-thresh:65536"])


def patarasuk(sizes):
    """32 hosts at 1 Gbit/s below four switches: in a star around a fifth, and in a chain. 50 us is what a message takes
    between hosts of one switch. The tree's ring is the same however machines are numbered; for the others hosts are numbered
    switch by switch, anyhow, and in turn over the switches."""
    link = Link(GIGABIT, 24e-6)
    for name, machine in (("patarasuk-star", two_level_tree(4, 8, link, link, INSIDE, 1)),
                          ("patarasuk-chain", chain(4, 8, link, INSIDE))):
        ring = "tree_ring(nodes=8*4)"
        yield Setting(name, machine, 32, sizes, known(32) + by_hosts([8] * 4, ["4", "2x2"]) + [ring, "binomial"],
                      always=[ring, "ring", *NATIVE, "binomial"])
        yield Setting(name, machine, 32, sizes, known(32) + ["binomial"], "shuffled", always=["ring", *NATIVE, "binomial"])
        yield Setting(name, machine, 32, sizes, [*NATIVE, "ring", "binomial"], "in turn",
                      always=["ring", *NATIVE, "binomial"], comparators=["rdb", "rab_rdb", "mpich", "ompi"])


def patarasuk_smp(shapes):
    """Hosts of 2 and 4 ranks on one switch. As many ranks are on few hosts and on many, so that the mapping names both."""
    for hosts, cores in shapes:
        machine = star(hosts, Link(GIGABIT, 24e-6), INSIDE, cores)
        ranks, nodes = hosts * cores, [cores] * hosts
        dims = ["4x4" + {16: "", 32: "x2", 64: "x4"}[hosts]]
        yield Setting("patarasuk-smp", machine, ranks, [64 * ranks, 256 * ranks, 1024 * ranks, 8192 * ranks],
                      by_hosts(nodes, dims) + rings(nodes), f"{hosts}x{cores}", comparators=["smp_rdb", "smp_binomial", "ompi", "mvapich2_two_level"],
                      always=rings(nodes)[:1], kept=2)


def patarasuk_native(shapes, sizes):
    """The source's shapes, with what "native" may have been: by recursive doubling or halving, ranks host by host or in turn
    over the hosts. A message between hosts costs 2 us, as much as 250 bytes: the source's network is not known."""
    for hosts, cores in shapes:
        machine = star(hosts, Link(GIGABIT, 0.9e-6), INSIDE, cores)
        ranks, nodes = hosts * cores, text_of([cores] * hosts)
        trees = [f"smp_binomial(nodes={nodes},segments={count})" for count in (1, 2, 4, 8, 16, 32)]
        ours = [f"tree_ring(nodes={nodes})", f"smp_rdb(nodes={nodes})", *trees, *NATIVE]
        costs = Costs(overhead=0.1e-6, combine=2e-10)
        yield Setting("patarasuk-native", machine, ranks, sizes, ours, f"{hosts}x{cores}", costs, always=ours, kept=0,
                      comparators=["smp_rdb", "smp_binomial", "smp_binomial_pipeline"])
        yield Setting("patarasuk-native", machine, ranks, sizes, NATIVE, f"{hosts}x{cores} in turn", costs, always=NATIVE, kept=0,
                      comparators=["rdb", "rab_rdb"])


def fat_tree(sizes):
    """32 hosts below four switches with eight ways up each, and at one switch: what the source takes for much the same. Nearly
    all of a message's 50 us is the ranks', so that ways of four links take no longer than those of two."""
    link = Link(GIGABIT, 1e-6)
    for name, machine in (("fat tree", FatTree(4, 8, link)), ("one switch", star(32, link, INSIDE, 1))):
        for mapping in (name, name + ", shuffled"):
            yield Setting("fat-tree", machine, 32, sizes, ["ring", *NATIVE, "binomial"], mapping, Costs(24e-6, 2e-10),
                          always=["ring", *NATIVE, "binomial"], kept=0, comparators=["rab_rdb"])


def flexreduce(shapes, sizes):
    """Hosts of up to 4 ranks: 10 GB/s inside, 1 GB/s between. 480 MB and 480 KB are the source's 120 million and 120 thousand
    floats. Ranks combine as fast as memory; the source's do so on GPUs."""
    for shape in shapes:
        yield UnequalHosts(shape, sizes)


class UnequalHosts(Setting):
    def __init__(self, shape, sizes):
        machine = star(len(shape), Link(1e9, 5e-6), INSIDE, 4)
        text = text_of(shape)
        own = [f"unequal(nodes={text},radix=4)", f"unequal(nodes={text})", f"two_level(nodes={text},leaders=0)",
               f"flexreduce(nodes={text})"]
        own += in_segments(own[:1] + own[-1:])
        super().__init__("flexreduce", machine, sum(shape), sizes, own + ["ring"],
                         mapping="+".join(str(size) for size in shape), costs=Costs(overhead=0.5e-6, combine=2e-11),
                         comparators=["lr", "ompi", "mvapich2_two_level"], always=own + ["ring"])
        self.shape = shape

    def placement(self):
        return [f"host-{host}" for host, size in enumerate(self.shape) for _ in range(size)]


def growth(levels, ranks, sizes, comparators):
    """Hosts of 16 ranks: 16 below each switch, whose way up is as wide as four of theirs; and two such switches below one of a
    third level. No rank has more than three messages in a step, with which SimGrid would take minutes."""
    hosts, leaves = ranks // 16, ranks // 256
    uplink = Link(4 * TEN_GIGABIT, 1e-6)
    machine = (two_level_tree(leaves, 16, ETHERNET, uplink, INSIDE, 16) if levels == 2 else
               three_level_tree(leaves // 2, 2, 16, ETHERNET, uplink, INSIDE, 16))
    dims = [f"4x4x{'x'.join(['4'] * int(math.log(leaves, 4)))}", "x".join(["2"] * int(math.log2(hosts)))]
    folds = (generalized(ranks, (2, 4)) + ["latency(radix=2)", "latency(radix=4)", "recursive_halving", "recursive_doubling"]
             + [f"product(dims=4x4x{d},saved_steps={s})" for d in dims for s in (0, 1, 2)])
    ways = by_hosts([16] * hosts, dims, (2, 4))
    if ranks > 1024:  # to count what one way's messages do on the links takes a minute
        folds = [fold for fold in folds if fold.startswith("product") and dims[0] in fold]
        ways = [way for way in ways if way.startswith("two_level") and "inner=4" in way and f"dims={dims[0]}" in way
                and ("leaders=1," in way or "leaders=0" in way)]
    yield Setting(f"growth-{levels}-levels", machine, ranks, sizes, folds + ways, comparators=comparators, kept=2)


def torus(shapes, sizes):
    """Hosts of one rank at 100 Gbit/s; ways are as long as they are on the torus."""
    for shape in shapes:
        machine = Torus(shape, Link(12.5e9, 0.5e-6))
        ranks = math.prod(shape)
        yield Setting("torus", machine, ranks, sizes, known(ranks) + [swing_over(shape)] + [f"swing(saved_steps={r})" for r in range(steps_of(ranks) + 1)],
                      mapping="x".join(str(size) for size in shape), costs=Costs(overhead=0.2e-6, combine=1e-11),
                      comparators=["lr", "rdb", "rab_rdb", "ompi", "mpich"], kept=2,
                      always=[swing_over(shape), "swing", "generalized(saved_steps=0)", "recursive_halving"])


KB, MB = 1024, 1 << 20
KOLMAKOV_SIZES = [100, 320, 1000, 3200, 10_000, 32_000, 100_000, 320_000, 1_000_000, 10_000_000]
MORE_KOLMAKOV_SIZES = [425, 9000, *KOLMAKOV_SIZES, 32_000_000]
# At and around powers of two, and half-way between them.
KOLMAKOV_COUNTS = [8, 9, 12, 16, 17, 24, 25, 31, 32, 33, 34, 48, 49, 63, 64, 65, 66, 96, 97, 127, 128, 129, 160]
PATARASUK_SIZES = [8 * KB, 32 * KB, 64 * KB, 128 * KB, 256 * KB, 512 * KB, MB]
SMP_SHAPES = [(16, 2), (16, 4), (32, 2), (32, 4), (64, 2), (64, 4)]
SOURCE_SHAPES, NATIVE_SIZES = [(32, 2), (64, 2), (16, 4), (32, 4)], [KB << i for i in range(11)]
HOST_SHAPES = [[2, 2], [3, 2], [3, 3], [4, 3], [4, 4], [3, 3, 3], [4, 3, 3], [4, 4, 3], [4, 4, 4]]
GROWTH_SIZES = [100, 1000, 10_000, 100_000, 1_000_000]
FEW = ["rdb", "rab_rdb", "mvapich2_two_level", "smp_rdb"]


def not_quickly(make):
    return lambda: [], make, make


def growth_efforts(levels):
    return (lambda: [], lambda: growth(levels, 1024, GROWTH_SIZES, BY_STEPS),
            lambda: [*growth(levels, 1024, GROWTH_SIZES, COMPARATORS), *growth(levels, 4096, [100, 10_000, 1_000_000], FEW)])


# Name: what is run quickly, by default, and with --long.
EXPERIMENTS = {
    "kolmakov": (lambda: kolmakov([320, 10_000]), lambda: kolmakov(KOLMAKOV_SIZES), lambda: kolmakov(KOLMAKOV_SIZES)),
    "kolmakov-ranks": (lambda: kolmakov_ranks([12, 24]), lambda: kolmakov_ranks(range(2, 161)), lambda: kolmakov_ranks(range(2, 161))),
    "kolmakov-shuffles": not_quickly(lambda: kolmakov_shuffles(MORE_KOLMAKOV_SIZES, KOLMAKOV_COUNTS)),
    "kolmakov-alone": not_quickly(lambda: kolmakov_alone(MORE_KOLMAKOV_SIZES, KOLMAKOV_COUNTS)),
    "kolmakov-eager": not_quickly(lambda: kolmakov_eager(KOLMAKOV_COUNTS)),
    "patarasuk": (lambda: patarasuk([512 * KB, MB]), lambda: patarasuk(PATARASUK_SIZES),
                  lambda: patarasuk(PATARASUK_SIZES + [4 * MB, 16 * MB])),
    "patarasuk-smp": not_quickly(lambda: patarasuk_smp(SMP_SHAPES)),
    "patarasuk-native": not_quickly(lambda: patarasuk_native(SOURCE_SHAPES, NATIVE_SIZES)),
    "fat-tree": (lambda: [], lambda: fat_tree(PATARASUK_SIZES[1::2]), lambda: fat_tree(PATARASUK_SIZES)),
    "flexreduce": (lambda: flexreduce([[3, 2], [4, 3, 3]], [48_000_000]), lambda: flexreduce(HOST_SHAPES, [480_000, 480_000_000]),
                   lambda: flexreduce(HOST_SHAPES, [480_000, 480_000_000])),
    "growth-2-levels": growth_efforts(2),
    "growth-3-levels": growth_efforts(3),
    "torus": (lambda: torus([(8, 8), (64,)], [64, MB]), lambda: torus([(8, 8), (16, 16), (64,), (128,)], [64, 8 * KB, 256 * KB, MB]),
              lambda: torus([(8, 8), (16, 16), (64,), (128,)], [64, KB, 8 * KB, 64 * KB, 256 * KB, MB, 8 * MB])),
}
