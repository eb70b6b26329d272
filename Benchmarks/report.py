"""What the figures say: tables, and each target with the distance to it."""

from __future__ import annotations

import datetime
import platform
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from explanations import besides
from targets import Medians, Results, targets


@dataclass
class Circumstances:
    rounds: int
    seconds: float
    took: float
    #: The load average before, and after each round.
    loads: list[float]
    binary_bytes: int
    python: str


def text(
    results: Results,
    medians: Medians,
    findings: dict[tuple[str, str], list[str]],
    works: list[tuple[str, str, list[str]]],
    circumstances: Circumstances,
) -> str:
    """Return the whole report.

    `findings` are the messages that peers lost, by work and contestant; `works` are names, columns and
    contestants.
    """
    return "\n".join(
        [
            *preface(circumstances),
            *targets(results, medians, circumstances.seconds, circumstances.binary_bytes),
            *besides(results, medians),
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
    medians: Medians,
    findings: dict[tuple[str, str], list[str]],
    works: list[tuple[str, str, list[str]]],
) -> list[str]:
    lines = ["## Medians", ""]
    for name, kind, contestants in works:
        lines += [f"### {name[0].upper()}{name[1:]}", ""]
        columns = COLUMNS.get(kind, BUSY)
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
MESSAGES: dict[str, Column] = {
    "messages per second": lambda it: f"{it['messages'] / it['seconds']:,.0f}",
    "CPU µs per message": lambda it: f"{it['cpu_us_message']:,.2f}",
    "deliveries per CPU-second": lambda it: f"{it['work'] / it['cpu_seconds']:,.0f}",
    "CPU µs each": lambda it: f"{it['cpu_us_each']:.3f}",
    "p50 µs": BUSY["p50 µs"],
    "p99 µs": BUSY["p99 µs"],
}
BYTES: dict[str, Column] = {
    "MB per second": CODEC["MB per second"],
    "CPU µs per MB": lambda it: f"{it['cpu_us_each'] / it['size'] * 1e6:,.0f}",
    "p50 µs": BUSY["p50 µs"],
    "p99 µs": BUSY["p99 µs"],
}


def with_and_without(figure: str) -> Column:
    return lambda it: f"{it[figure]:,.0f} / {it[f'{figure}_without']:,.0f}"


BESIDE: dict[str, Column] = {
    "one at a time: p50 µs, with / without": with_and_without("one_p50_us"),
    "one at a time: p99 µs": with_and_without("one_p99_us"),
    "one at a time: per CPU-second": with_and_without("one_per_cpu_second"),
    "flat out: per second": with_and_without("flat_per_second"),
    "flat out: per CPU-second": with_and_without("flat_per_cpu_second"),
    "flat out: p99 µs": with_and_without("flat_p99_us"),
}
COLUMNS = {
    "idle": IDLE,
    "beside": BESIDE,
    "codec": CODEC,
    "values": CODEC,
    "messages": MESSAGES,
    "bytes": BYTES,
}


#: Of the section that `make soak` writes.
LEFTOVERS = "## What connections leave behind"
KILLS = "## What kill -9 leaves behind"
MIXED = "## What an hour of everything leaves behind"
#: What `make soak` writes.
SOAKED = (LEFTOVERS, KILLS, MIXED)


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
