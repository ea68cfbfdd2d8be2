# SPDX-License-Identifier: Apache-2.0
"""Machines twice: as SimGrid simulates them, and as networks that `coset cost --links` prices.

Hosts are named host-0, host-1 …; ranks of a host reach each other over its loopback. Every link is two, one each way.
"""
import dataclasses
import json
import random

HEAD = ['<?xml version="1.0"?>', '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">', '<platform version="4.1">']


@dataclasses.dataclass(frozen=True)
class Link:
    """Bytes per second, and seconds."""
    bandwidth: float
    latency: float

    def costs(self):
        return {"bandwidth": self.bandwidth, "latency": self.latency}

    def xml(self):
        return f'bandwidth="{self.bandwidth}Bps" latency="{self.latency * 1e9:.3f}ns"'


@dataclasses.dataclass(frozen=True)
class Costs:
    """What ranks pay apart from links: for each message its sender, and its receiver again; for each byte combined."""
    overhead: float
    combine: float


class Tree:
    """Hosts below switches. `above` is the parent of each switch, None for the root; `hosts` are those of each switch."""

    def __init__(self, above, hosts, host_link, switch_link, inside, cores):
        self.above, self.hosts, self.cores = above, hosts, cores
        self.host_link, self.switch_link, self.inside = host_link, switch_link, inside

    def host_names(self):
        return [f"host-{i}" for i in range(sum(self.hosts.values()))]

    def hosts_below(self):
        """The names of each switch's own hosts."""
        names, below = iter(self.host_names()), {}
        for switch, number in self.hosts.items():
            below[switch] = [next(names) for _ in range(number)]
        return below

    def xml(self):
        """Every switch is a router of one zone; Dijkstra's ways are the tree's."""
        lines = HEAD + [' <zone id="world" routing="Dijkstra">']
        lines += [f'  <host id="{name}" speed="1Gf" core="{self.cores}"/>' for name in self.host_names()]
        lines += [f'  <router id="{switch}"/>' for switch in self.above]
        routes = []

        def join(lower, upper, link):
            lines.append(f'  <link id="up-{lower}" {link.xml()} sharing_policy="SPLITDUPLEX"/>')
            for source, end, way in ((lower, upper, "UP"), (upper, lower, "DOWN")):
                routes.append(f'  <route src="{source}" dst="{end}" symmetrical="NO">'
                              f'<link_ctn id="up-{lower}" direction="{way}"/></route>')

        for switch, names in self.hosts_below().items():
            for name in names:
                join(name, switch, self.host_link)
                lines.append(f'  <link id="inside-{name}" {self.inside.xml()} sharing_policy="FATPIPE"/>')
                routes.append(f'  <route src="{name}" dst="{name}" symmetrical="NO"><link_ctn id="inside-{name}"/></route>')
        for switch, parent in self.above.items():
            if parent is not None:
                join(switch, parent, self.switch_link)
        return "\n".join(lines + routes + [" </zone>", "</platform>", ""])

    def network(self, placement):
        """For `coset cost --links`: switches without anything below them are left out."""
        ranks = {}
        for rank, host in enumerate(placement):
            ranks.setdefault(host, []).append(rank)
        below = {switch: [name for name in names if name in ranks] for switch, names in self.hosts_below().items()}
        for switch in reversed(list(self.above)):  # children before their parents
            below.setdefault(switch, [])
            parent = self.above[switch]
            if parent is not None and below[switch]:
                below.setdefault(parent, []).append(switch)
        tree = {switch: children for switch, children in below.items() if children} | ranks
        links = {switch: self.switch_link.costs() for switch, parent in self.above.items() if parent is not None and below[switch]}
        links |= {host: self.host_link.costs() for host in ranks}
        rank = {"bandwidth": self.inside.bandwidth, "latency": self.inside.latency / 2}
        return json.dumps({"tree": tree, "links": links, "rank": rank})


def star(hosts, link, inside, cores):
    """One switch that is never busy."""
    return Tree({"switch": None}, {"switch": hosts}, link, link, inside, cores)


def two_level_tree(leaves, hosts, link, uplink, inside, cores):
    """`leaves` switches of so many hosts each below another one."""
    above = {"core": None} | {f"leaf-{i}": "core" for i in range(leaves)}
    return Tree(above, {f"leaf-{i}": hosts for i in range(leaves)}, link, uplink, inside, cores)


def three_level_tree(pods, leaves, hosts, link, uplink, inside, cores):
    """`pods` switches of `leaves` switches of `hosts` hosts below another one."""
    above, own = {"core": None}, {}
    for pod in range(pods):
        above[f"pod-{pod}"] = "core"
        for leaf in range(leaves):
            above[f"leaf-{pod}-{leaf}"] = f"pod-{pod}"
            own[f"leaf-{pod}-{leaf}"] = hosts
    return Tree(above, own, link, uplink, inside, cores)


def chain(switches, hosts, link, inside):
    """Switches of so many hosts, each joined to the one before."""
    above = {f"leaf-{i}": f"leaf-{i - 1}" if i > 0 else None for i in range(switches)}
    return Tree(above, {f"leaf-{i}": hosts for i in range(switches)}, link, link, inside, 1)


class Torus:
    """A host of one rank at each point."""

    def __init__(self, dimensions, link):
        self.dimensions, self.link = dimensions, link

    def host_names(self):
        number = 1
        for size in self.dimensions:
            number *= size
        return [f"host-{i}" for i in range(number)]

    def xml(self):
        """Both number the hosts alike: the last dimension here changes first, SimGrid's first one."""
        last = len(self.host_names()) - 1
        shape = ",".join(str(size) for size in reversed(self.dimensions))
        return "\n".join(HEAD + [
            ' <zone id="world" routing="Full">',
            f'  <cluster id="torus" prefix="host-" suffix="" radical="0-{last}" speed="1Gf" topology="TORUS" '
            f'topo_parameters="{shape}" bw="{self.link.bandwidth}Bps" lat="{self.link.latency * 1e9:.3f}ns" '
            'sharing_policy="SPLITDUPLEX"/>', ' </zone>', '</platform>', ""])

    def network(self, _):
        return json.dumps({"torus": list(self.dimensions), "link": self.link.costs(), "rank": {"bandwidth": 1e12}})


class FatTree:
    """`leaves` switches of so many hosts each, with as many ways up, each to another switch. The model takes it for one switch."""

    def __init__(self, leaves, hosts, link):
        self.leaves, self.hosts, self.link = leaves, hosts, link

    def host_names(self):
        return [f"host-{i}" for i in range(self.leaves * self.hosts)]

    def xml(self):
        last = self.leaves * self.hosts - 1
        shape = f"2;{self.hosts},{self.leaves};1,{self.hosts};1,1"
        return "\n".join(HEAD + [
            ' <zone id="world" routing="Full">',
            f'  <cluster id="fat-tree" prefix="host-" suffix="" radical="0-{last}" speed="1Gf" topology="FAT_TREE" '
            f'topo_parameters="{shape}" bw="{self.link.bandwidth}Bps" lat="{self.link.latency * 1e9:.3f}ns" '
            'sharing_policy="SPLITDUPLEX"/>', ' </zone>', '</platform>', ""])

    def network(self, placement):
        return star(len(self.host_names()), self.link, self.link, 1).network(placement)


def block(machine, ranks):
    """Each host is filled before the next one begins."""
    return [name for name in machine.host_names() for _ in range(getattr(machine, "cores", 1))][:ranks]


def shuffled(machine, ranks, which=1):
    """The same places for other ranks, always the same ones of each shuffle."""
    places = block(machine, ranks)
    random.Random(which * ranks).shuffle(places)
    return places


def in_turn(machine, ranks):
    """Rank 0 at the first switch, or host of several ranks, rank 1 at the next one, and so on."""
    cores = getattr(machine, "cores", 1)
    groups = [[name] * cores for name in machine.host_names()] if cores > 1 else list(machine.hosts_below().values())
    groups = [group for group in groups if group]
    return [groups[rank % len(groups)][rank // len(groups)] for rank in range(ranks)]


def nodes_of(placement):
    """How many ranks each host has, where those of a host are consecutive: "20+20+7"."""
    counts = {}
    for host in placement:
        counts[host] = counts.get(host, 0) + 1
    return list(counts.values())
