"""What the figures say: tables, and each target with the distance to it."""

from __future__ import annotations

import datetime
import platform
import re
import statistics
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Rounds = list[dict[str, float] | None]


@dataclass
class Circumstances:
    rounds: int
    seconds: float
    took: float
    #: The load average before, and after each round.
    loads: list[float]
    binary_bytes: int
    python: str


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


def text(
    results: dict[tuple[str, str], Rounds],
    medians: dict[tuple[str, str], dict[str, float]],
    findings: dict[tuple[str, str], list[str]],
    works: list[tuple[str, str, list[str]]],
    circumstances: Circumstances,
) -> str:
    """Return the whole report; `findings` are the messages that peers lost, by work and contestant."""
    return "\n".join(
        [
            *preface(circumstances),
            *targets(results, medians, circumstances),
            *besides(results),
            *tables(medians, findings, works),
            *losses(findings, circumstances.rounds),
        ]
    )


def preface(it: Circumstances) -> list[str]:
    busy = max(it.loads)
    lines = [
        "# Benchmark results",
        "",
        "Written by `make bench`; [README.md](README.md) says what is measured and how.",
        "",
        f"- {origin()}",
        f"- {processor()}, {platform.system()} {platform.release()}, server on one core and load on another",
        f"- {first_line('swift', '--version')}",
        f"- nginx {version('nginx', '-v')} with Nchan {package('libnginx-mod-nchan')}",
        f"- Python {version(it.python, '--version')} with aiohttp {library(it, 'aiohttp')} "
        f"and websockets {library(it, 'websockets')}",
        f"- {it.rounds} rounds of {it.seconds:g} s a measurement, {it.took / 60:.0f} min in all; "
        f"load average {it.loads[0]:.1f} before, up to {busy:.1f} meanwhile",
    ]
    # The load itself keeps two cores busy.
    if it.loads[0] > 1 or busy > 3.5:
        lines.append(
            "- **The machine was busy with other work: do not trust latencies and rates per second.**"
        )
    return [*lines, ""]


def targets(
    results: dict[tuple[str, str], Rounds],
    medians: dict[tuple[str, str], dict[str, float]],
    circumstances: Circumstances,
) -> list[str]:
    def ratio(work: str, figure: str, peer: str, own: str = "wsbridge") -> Callable[[], float]:
        """The median over rounds of ours divided by the peer's."""

        def compute() -> float:
            pairs = zip(results[work, own], results[work, peer], strict=True)
            return statistics.median(ours[figure] / theirs[figure] for ours, theirs in pairs)

        return compute

    def inverse(compute: Callable[[], float]) -> Callable[[], float]:
        return lambda: 1 / compute()

    def own(work: str, figure: str, scale: float = 1, who: str = "wsbridge") -> Callable[[], float]:
        return lambda: medians[work, who][figure] * scale

    rows = []

    def want(work: str, wanted: float, at_least: bool, figure: Callable[[], float], unit: str = " ×") -> None:
        rows.append(Target(work, wanted, at_least, unit, figure).row())

    for n in ("100", "1,000"):
        work = f"one message at a time, N = {n}"
        want(
            f"{work}: deliveries per CPU-second, of the limit's",
            0.9,
            True,
            inverse(ratio(work, "cpu_us_each", "limit")),
        )
        want(f"{work}: the same, of Nchan's", 1.5, True, inverse(ratio(work, "cpu_us_each", "Nchan")))
        want(f"{work}: p50, of the limit's", 1.15, False, ratio(work, "p50_us", "limit"))
        want(f"{work}: p50, of Nchan's", 0.8, False, ratio(work, "p50_us", "Nchan"))
        want(f"{work}: p99, of Nchan's", 0.8, False, ratio(work, "p99_us", "Nchan"))
    work = "flat out, N = 1,000"
    peers = {"limit, each by itself": 2, "Nchan": 8, "Nchan, 2 workers": 4, "aiohttp": 15}
    for peer, wanted in peers.items():
        want(f"{work}: deliveries per second, of {peer}", wanted, True, ratio(work, "per_second", peer))
        want(
            f"{work}: deliveries per CPU-second, of {peer}",
            wanted,
            True,
            inverse(ratio(work, "cpu_us_each", peer)),
        )
    work = "one message at a time, N = 1"
    want("one subscriber: p50 from frame to byte, of the limit's", 1.3, False, ratio(work, "p50_us", "limit"))
    want("one subscriber: times faster than aiohttp", 5, True, inverse(ratio(work, "p50_us", "aiohttp")))
    idle = "idle, N = 1,000"
    for work in (idle, "idle, N = 10,000"):
        count = work.removeprefix("idle, ")
        want(
            f"memory per idle subscriber, {count}, descriptor duplicated",
            2,
            False,
            own(work, "memory_each", 1e-3),
            " KB",
        )
        want(
            f"memory per idle subscriber, {count}, suspended in libmicrohttpd",
            25,
            False,
            own(work, "memory_each", 1e-3, "wsbridge, suspended"),
            " KB",
        )
    want(
        "CPU of 1,000 idle subscribers, of one core",
        0,
        False,
        own(idle, "idle_cpu_seconds", 100 / circumstances.seconds),
        " %",
    )
    post = "POST, 32 clients"
    want("POST: CPU per request, of the limit's", 1.3, False, ratio(post, "cpu_us_each", "limit"))
    want("POST: CPU per request, of Nchan's", 0.9, False, ratio(post, "cpu_us_each", "Nchan"))
    want("durable POST, of the same group commit in C", 0.8, True, missing)
    client = "wsbridge's client"
    want(
        "receive, 100 B: thousand messages per second",
        168,
        True,
        own("receive, 100 B", "per_second", 1e-3, client),
        " k",
    )
    want(
        "receive, 1 MiB: megabytes per second",
        900,
        True,
        own("receive, 1 MiB", "per_second", 1.048576, client),
        " MB/s",
    )
    for library_name in ("websockets", "aiohttp"):
        for size in ("100 B", "1 MiB"):
            compute = ratio(f"receive, {size}", "per_second", f"{library_name}'s client", client)
            want(f"receive, {size}: messages per second, of {library_name}'s", 1, True, compute)
    want("binary, Swift's libraries included", 25, False, lambda: circumstances.binary_bytes / 1e6, " MB")
    want("idle memory", 15, False, own("idle, 1 upstream", "memory", 1e-6), " MB")
    want("start to listening", 50, False, own("idle, 1 upstream", "start_ms"), " ms")
    want(
        "memory per idle upstream connection",
        20,
        False,
        lambda: (
            (
                medians["idle, 101 upstreams", "wsbridge"]["memory"]
                - medians["idle, 1 upstream", "wsbridge"]["memory"]
            )
            / 100e3
        ),
        " KB",
    )
    return [
        "## Targets",
        "",
        "Ratios are medians over the rounds of the ratio within a round. That a message to N subscribers",
        "takes at most N + 6 system calls is a [test](../Tests/EndToEnd/test_system_calls.py).",
        "",
        "| Work | Target | Measured | |",
        "|---|---|---|---|",
        *rows,
        "",
    ]


def besides(results: dict[tuple[str, str], Rounds]) -> list[str]:
    """What explains a target, and is none itself."""

    def ratio(work: str, figure: str, ours: str, theirs: str, floor: str | None = None) -> str:
        """Return the median of theirs divided by ours, each less what the floor needs for the same."""
        if not all(results.get((work, who)) for who in (ours, theirs, floor or ours)):
            return "not measured"
        values = []
        for one, other, least in zip(
            results[work, ours], results[work, theirs], results[work, floor or ours], strict=True
        ):
            if not (one and other and least):
                return "not measured"
            below = least[figure] if floor else 0
            values.append((other[figure] - below) / max(one[figure] - below, 1e-9))
        return f"{statistics.median(values):.3g} ×"

    one, post = "one message at a time, N = 1", "POST, 32 clients"
    rows = [
        (
            "one subscriber: p50 beyond the limit's, aiohttp's of wsbridge's",
            ratio(one, "p50_us", "wsbridge", "aiohttp", "limit"),
        ),
        (
            "one subscriber: CPU beyond the limit's, aiohttp's of wsbridge's",
            ratio(one, "cpu_us_each", "wsbridge", "aiohttp", "limit"),
        ),
        (
            "POST: CPU per request, of the limit's on libmicrohttpd",
            ratio(post, "cpu_us_each", "limit on libmicrohttpd", "wsbridge"),
        ),
        (
            "POST: CPU per request of the limit on libmicrohttpd, of the limit's",
            ratio(post, "cpu_us_each", "limit", "limit on libmicrohttpd"),
        ),
    ]
    return [
        "## Beside the targets",
        "",
        "The limit is the kernel and the load tool, which no bridge can do without: what a bridge adds to it",
        "is its own.",
        "",
        "| Work | Measured |",
        "|---|---|",
        *(f"| {work} | {measured} |" for work, measured in rows),
        "",
    ]


def missing() -> float:
    """What the program does not do yet."""
    raise KeyError


def losses(findings: dict[tuple[str, str], list[str]], rounds: int) -> list[str]:
    """What peers did not deliver, which is why they have no figures there."""
    if not findings:
        return []
    lines = ["## Messages that were lost", "", "[PROFILE.md](PROFILE.md) says why, where that is known.", ""]
    for (work, contestant), examples in findings.items():
        lines.append(
            f"- {work}, {contestant}, in {len(examples)} of {rounds} rounds, for example: {examples[0]}"
        )
    return [*lines, ""]


def tables(
    medians: dict[tuple[str, str], dict[str, float]],
    findings: dict[tuple[str, str], list[str]],
    works: list[tuple[str, str, list[str]]],
) -> list[str]:
    lines = ["## Medians", ""]
    for name, mode, contestants in works:
        lines += [f"### {name[0].upper()}{name[1:]}", ""]
        columns = IDLE if mode == "idle" else CODEC if mode == "codec" else BUSY
        lines += ["| | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
        for contestant in contestants:
            figures = medians.get((name, contestant))
            missing_figure = "lost messages" if findings.get((name, contestant)) else "no result"
            cells = [format(figures) if figures else missing_figure for format in columns.values()]
            lines.append(f"| {contestant} | " + " | ".join(cells) + " |")
        lines.append("")
    return lines


Column = Callable[[dict[str, float]], str]

BUSY: dict[str, Column] = {
    "per second": lambda it: f"{it['per_second']:,.0f}",
    "per CPU-second": lambda it: f"{it['work'] / it['cpu_seconds']:,.0f}" if it["cpu_seconds"] else "-",
    "CPU µs each": lambda it: f"{it['cpu_us_each']:.3f}",
    "p50 µs": lambda it: f"{it['p50_us']:,.0f}",
    "p99 µs": lambda it: f"{it['p99_us']:,.0f}",
}
CODEC: dict[str, Column] = {
    "messages per second": lambda it: f"{it['per_second']:,.0f}",
    "MB per second": lambda it: f"{it['per_second'] * it['size'] / 1e6:,.0f}",
    "CPU µs each": lambda it: f"{it['cpu_us_each']:.2f}",
}
IDLE: dict[str, Column] = {
    "bytes per subscriber": lambda it: f"{it['memory_each']:,.0f}" if it["streams"] else "-",
    "MB before": lambda it: f"{it['memory'] / 1e6:.1f}",
    "CPU ms per second": lambda it: f"{it['idle_cpu_seconds'] * 1e3 / it['seconds']:.2f}",
    "ms to listening": lambda it: f"{it['start_ms']:.0f}",
}


#: Of the section that `make soak` writes.
LEFTOVERS = "## What connections leave behind"


def section_of(text: str, heading: str) -> str:
    """Return what stands under a heading of the second level, the heading included, or nothing."""
    found = re.search(rf"^{re.escape(heading)}\n.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[0] if found else ""


def with_section(text: str, section: str) -> str:
    """Return a report with this section in the place of its old one, or at its end."""
    if former := section_of(text, section.splitlines()[0]):
        return text.replace(former, section)
    return f"{text}\n{section}" if text else section


# What ran


def origin() -> str:
    """Return when this is written, and of which commit."""
    now = datetime.datetime.now(datetime.UTC)
    return f"{now:%Y-%m-%d %H:%M} UTC, commit {output('git', 'rev-parse', '--short', 'HEAD')}"


def output(*arguments: str) -> str:
    """Return all that a command says, or nothing if there is no such command."""
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return (done.stdout + done.stderr).strip()


def first_line(*arguments: str) -> str:
    return (output(*arguments).splitlines() or ["unknown"])[0]


def version(*arguments: str) -> str:
    match = re.search(r"\d+(\.\d+)+", output(*arguments))
    return match[0] if match else "of unknown version"


def package(name: str) -> str:
    return output("dpkg-query", "-W", "-f", "${Version}", name) or "of unknown version"


def library(it: Circumstances, name: str) -> str:
    return output(it.python, "-c", f"import importlib.metadata as m; print(m.version('{name}'))")


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cores = Path("/proc/cpuinfo").read_text().count("processor\t")
            return f"{line.split(':')[1].strip()}, {cores} cores"
    return platform.machine()
