"""What the benchmarks are to reach, with the distance to it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from works import BEHAVIOURS, CROWDS, GROWTH, ISOLATION, VALUES, disturbers

#: By work and contestant, a result a round; None where there is none.
Results = dict[tuple[str, str], list[dict[str, float] | None]]
Medians = dict[tuple[str, str], dict[str, float]]


@dataclass
class Target:
    """A figure that is wanted to be at least, or at most, so much."""

    work: str
    wanted: float
    at_least: bool
    unit: str
    #: The figure; raises `KeyError` or `TypeError` where it was not measured.
    figure: Callable[[], float]

    def row(self) -> str:
        sign = "≥" if self.at_least else "≤"
        try:
            figure = self.figure()
        except (KeyError, TypeError):
            return f"| {self.work} | {sign} {self.wanted:g}{self.unit} | not measured | |"
        met = figure >= self.wanted if self.at_least else figure <= self.wanted
        distance = (figure / self.wanted - 1) * 100 if self.wanted else figure * 100
        verdict = "met" if met else "**missed**"
        measured = f"{figure:.3g}{self.unit} | {verdict}, {distance:+.0f} %"
        return f"| {self.work} | {sign} {self.wanted:g}{self.unit} | {measured} |"


class Figures:
    """What was measured, as figures that are worked out when they are asked for."""

    def __init__(self, results: Results, medians: Medians):
        self.results = results
        self.medians = medians

    def own(self, work: str, figure: str, scale: float = 1, who: str = "wsbridge") -> Callable[[], float]:
        return lambda: self.medians[work, who][figure] * scale

    def ratio(self, work: str, figure: str, peer: str, own: str = "wsbridge") -> Callable[[], float]:
        """Return the median over rounds of ours divided by the peer's."""

        def compute() -> float:
            pairs = zip(self.results[work, own], self.results[work, peer], strict=True)
            return statistics.median(ours[figure] / theirs[figure] for ours, theirs in pairs)

        return compute

    def inverse(self, work: str, figure: str, peer: str, own: str = "wsbridge") -> Callable[[], float]:
        """Return the same of what is less for who is better, so that more is better."""
        return self.ratio(work, figure, own, peer)

    def with_without(self, figure: str, who: str) -> Callable[[], float]:
        """Return the median over rounds of what is with these disturbers divided by what is without."""

        def compute() -> float:
            rounds = self.results[ISOLATION, who]
            return statistics.median(one[figure] / one[f"{figure}_without"] for one in rounds)

        return compute


def at_least(work: str, wanted: float, figure: Callable[[], float], unit: str = " ×") -> Target:
    return Target(work, wanted, True, unit, figure)


def at_most(work: str, wanted: float, figure: Callable[[], float], unit: str = " ×") -> Target:
    return Target(work, wanted, False, unit, figure)


def fan_out(it: Figures) -> Iterator[Target]:
    for n in ("100", "1,000", "10,000"):
        work = f"one message at a time, N = {n}"
        limit, nchan = (it.inverse(work, "cpu_us_each", peer) for peer in ("limit", "Nchan"))
        yield at_least(f"{work}: deliveries per CPU-second, of the limit's", 0.9, limit)
        yield at_least(f"{work}: the same, of Nchan's", 1.5, nchan)
        yield at_most(f"{work}: p50, of the limit's", 1.15, it.ratio(work, "p50_us", "limit"))
        yield at_most(f"{work}: p50, of Nchan's", 0.8, it.ratio(work, "p50_us", "Nchan"))
        yield at_most(f"{work}: p99, of Nchan's", 0.8, it.ratio(work, "p99_us", "Nchan"))
    peers = {"limit, each by itself": 2, "Nchan": 8, "Nchan, 2 workers": 4, "aiohttp": 15}
    for n in ("1,000", "10,000"):
        work = f"flat out, N = {n}"
        for peer, wanted in peers.items() if n == "1,000" else list(peers.items())[:2]:
            rate, cpu = it.ratio(work, "per_second", peer), it.inverse(work, "cpu_us_each", peer)
            yield at_least(f"{work}: deliveries per second, of {peer}", wanted, rate)
            yield at_least(f"{work}: deliveries per CPU-second, of {peer}", wanted, cpu)
    work = "one message at a time, N = 1"
    yield at_most(
        "one subscriber: p50 from frame to byte, of the limit's", 1.3, it.ratio(work, "p50_us", "limit")
    )
    yield at_least("one subscriber: times faster than aiohttp", 5, it.inverse(work, "p50_us", "aiohttp"))
    for n in ("1", "10"):
        work = f"1 MiB messages, N = {n}"
        yield at_least(f"{work}: MB per second, of the limit's", 0.9, it.ratio(work, "per_second", "limit"))
        cpu = it.inverse(work, "cpu_us_each", "limit")
        yield at_least(f"{work}: MB per CPU-second, of the limit's", 0.9, cpu)


def isolation(it: Figures) -> Iterator[Target]:
    for behaviour in BEHAVIOURS:
        for who in (disturbers(count, behaviour) for count in CROWDS):
            for name, wanted, figure in (
                ("p99", 1.2, "one_p99_us"),
                ("deliveries per second", 0.9, "flat_per_second"),
                ("deliveries per CPU-second", 0.9, "flat_per_cpu_second"),
            ):
                target = at_most if name == "p99" else at_least
                yield target(
                    f"100 beside {who}: {name}, of that without", wanted, it.with_without(figure, who)
                )


def growth(it: Figures) -> Iterator[Target]:
    for pace in ("one message at a time", "flat out"):
        work = f"10 of 10,000, {pace}"
        for others in GROWTH:
            cpu = it.ratio(work, "cpu_us_message", "10 alone", others)
            yield at_most(f"10 {others}, {pace}: CPU per message, of 10 alone", 1.2, cpu)


def idle(it: Figures, seconds: float) -> Iterator[Target]:
    work = "idle, N = 1,000"
    for count in ("N = 1,000", "N = 10,000"):
        each = f"memory per idle subscriber, {count}"
        for how, wanted, who in (
            ("descriptor duplicated", 2, "wsbridge"),
            ("suspended in libmicrohttpd", 25, "wsbridge, suspended"),
        ):
            yield at_most(f"{each}, {how}", wanted, it.own(f"idle, {count}", "memory_each", 1e-3, who), " KB")
    cpu = it.own(work, "idle_cpu_seconds", 100 / seconds)
    yield at_most("CPU of 1,000 idle subscribers, of one core", 0, cpu, " %")


def sending(it: Figures) -> Iterator[Target]:
    work = "POST, 32 clients"
    yield at_most("POST: CPU per request, of the limit's", 1.3, it.ratio(work, "cpu_us_each", "limit"))
    yield at_most("POST: CPU per request, of Nchan's", 0.9, it.ratio(work, "cpu_us_each", "Nchan"))
    for count in ("1 client", "8 clients", "64 clients"):
        work = f"durable POST, {count}"
        for peer, how in (
            ("limit on libmicrohttpd and disk", "in C, on libmicrohttpd"),
            ("limit on disk", "in C, on bare epoll"),
        ):
            rate = it.ratio(work, "per_second", peer, "wsbridge on disk")
            yield at_least(f"{work}: requests per second, of the same group commit {how}", 0.8, rate)


def receiving(it: Figures) -> Iterator[Target]:
    client = "wsbridge's client"
    small, large = "receive, 100 B", "receive, 1 MiB"
    thousands, megabytes = (
        it.own(small, "per_second", 1e-3, client),
        it.own(large, "per_second", 1.048576, client),
    )
    yield at_least(f"{small}: thousand messages per second", 168, thousands, " k")
    yield at_least(f"{large}: megabytes per second", 900, megabytes, " MB/s")
    for library in ("websockets", "aiohttp"):
        for work in (small, large):
            rate = it.ratio(work, "per_second", f"{library}'s client", client)
            yield at_least(f"{work}: messages per second, of {library}'s", 1, rate)


def values(it: Figures) -> Iterator[Target]:
    for work in VALUES.values():
        rate = it.ratio(work, "per_second", "FoundationEssentials", "wsbridge's pointers")
        yield at_least(f"{work}: times faster than decoding with FoundationEssentials", 3, rate)


def process(it: Figures, binary_bytes: int) -> Iterator[Target]:
    one, many = (it.own(work, "memory", 1e-3) for work in ("idle, 1 upstream", "idle, 101 upstreams"))
    yield at_most("binary, Swift's libraries included", 25, lambda: binary_bytes / 1e6, " MB")
    yield at_most("idle memory", 15, lambda: one() / 1e3, " MB")
    yield at_most("start to listening", 50, it.own("idle, 1 upstream", "start_ms"), " ms")
    yield at_most("memory per idle upstream connection", 20, lambda: (many() - one()) / 100, " KB")


def targets(results: Results, medians: Medians, seconds: float, binary_bytes: int) -> list[str]:
    """Return the section of what is to be reached."""
    it = Figures(results, medians)
    rows = [
        *fan_out(it),
        *isolation(it),
        *growth(it),
        *idle(it, seconds),
        *sending(it),
        *values(it),
        *receiving(it),
        *process(it, binary_bytes),
    ]
    return [
        "## Targets",
        "",
        "Ratios are medians over the rounds of the ratio within a round. That a message to N subscribers",
        "takes at most N + 6 system calls is a [test](../Tests/EndToEnd/test_system_calls.py).",
        "",
        "| Work | Target | Measured | |",
        "|---|---|---|---|",
        *(target.row() for target in rows),
        "",
    ]
