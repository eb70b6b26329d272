"""What explains a figure that is to be reached, and is no target itself."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator

from targets import Figures, Medians, Results
from works import NOBODY, PLACES


def besides(results: Results, medians: Medians) -> list[str]:
    """Return the section of what explains a target, and is none itself."""
    it = Figures(results, medians)
    return [
        "## Beside the targets",
        "",
        "The limit is the kernel and the load tool, which no bridge can do without: what a bridge adds to it",
        "is its own.",
        "",
        "| Work | Measured |",
        "|---|---|",
        *(f"| {what} | {shown(figure, unit)} |" for what, figure, unit in explanations(it)),
        "",
    ]


def shown(figure: Callable[[], float], unit: str) -> str:
    try:
        return f"{figure():.3g}{unit}"
    except (KeyError, TypeError):
        return "not measured"


Explanation = tuple[str, Callable[[], float], str]


def explanations(it: Figures) -> Iterator[Explanation]:
    one, post = "one message at a time, N = 1", "POST, 32 clients"
    for name, figure in (("p50", "p50_us"), ("CPU", "cpu_us_each")):
        what = f"one subscriber: {name} beyond the limit's, aiohttp's of wsbridge's"
        yield what, beyond(it, one, figure, "aiohttp", "wsbridge", "limit"), " ×"
    library = "limit on libmicrohttpd"
    yield f"POST: CPU per request, of the {library}'s", it.ratio(post, "cpu_us_each", library), " ×"
    figure = it.ratio(post, "cpu_us_each", "limit", library)
    yield f"POST: CPU per request of the {library}, of the limit's", figure, " ×"
    yield from of_durable(it)
    for n in ("1", "10"):
        for peer in ("Nchan", "aiohttp"):
            work = f"1 MiB messages, N = {n}"
            yield f"{work}: MB per CPU-second, of {peer}'s", it.inverse(work, "cpu_us_each", peer), " ×"
    yield from sureness(it)
    yield from of_filters(it)
    yield from of_cores(it)


def of_durable(it: Figures) -> Iterator[Explanation]:
    us, peer = "wsbridge on disk", "limit on libmicrohttpd and disk"
    for count in ("1 client", "8 clients", "64 clients"):
        work = f"durable POST, {count}"
        for name, figure in (("p50", "p50_us"), ("p99", "p99_us")):
            yield f"{work}: {name}", it.own(work, figure, 1e-3, us), " ms"
        yield f"{work}: CPU per request, of the {peer}'s", it.ratio(work, "cpu_us_each", peer, us), " ×"


def sureness(it: Figures) -> Iterator[Explanation]:
    for name, figure in (
        ("p99", "one_p99_us"),
        ("deliveries per second", "flat_per_second"),
        ("deliveries per CPU-second", "flat_per_cpu_second"),
    ):
        yield f"100 beside nobody: {name}, of that without", it.with_without(figure, NOBODY), " ×"


def of_filters(it: Figures) -> Iterator[Explanation]:
    for pace in ("one message at a time", "flat out"):
        work = f"filters, {pace}"
        for who in ("one filter", "100 filters"):
            compute = it.inverse(work, "cpu_us_each", "100 subscribers, no filter", f"100 subscribers, {who}")
            yield f"100 subscribers, {who}, {pace}: deliveries per CPU-second, of no filter's", compute, " ×"
        cost = per_filter(it, work)
        yield f"each of 100 filters, of which 10 let a message pass, {pace}: CPU a message", cost, " ns"


def per_filter(it: Figures, work: str) -> Callable[[], float]:
    """Return what each of a hundred filters adds to a message that ten of them let pass."""

    def compute() -> float:
        few, many = "10 subscribers, no filter", "100 subscribers, 100 filters, 10 pass"
        pairs = zip(it.results[work, few], it.results[work, many], strict=True)
        return statistics.median(
            (with_them["cpu_us_message"] - without["cpu_us_message"]) * 10 for without, with_them in pairs
        )

    return compute


def of_cores(it: Figures) -> Iterator[Explanation]:
    for work, peer in (
        ("cores, one message at a time, N = 100", "limit"),
        ("cores, flat out, N = 1,000", "limit, each by itself"),
    ):
        for where in PLACES.values():
            ours, theirs = f"wsbridge, {where}", f"{peer}, {where}"
            for name, compute in (
                ("deliveries per second", it.ratio(work, "per_second", theirs, ours)),
                ("deliveries per CPU-second", it.inverse(work, "cpu_us_each", theirs, ours)),
                ("p50", it.ratio(work, "p50_us", theirs, ours)),
            ):
                yield f"{work}, {where}: {name}, of {peer}", compute, " ×"


def beyond(it: Figures, work: str, figure: str, theirs: str, ours: str, floor: str) -> Callable[[], float]:
    """Return the median of theirs divided by ours, each less what the floor needs for the same."""

    def compute() -> float:
        rounds = zip(*(it.results[work, who] for who in (theirs, ours, floor)), strict=True)
        return statistics.median(
            (other[figure] - least[figure]) / max(one[figure] - least[figure], 1e-9)
            for other, one, least in rounds
        )

    return compute
