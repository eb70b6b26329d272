"""Runs the rounds: every contestant does every work once a round, then the next round begins.

So whatever else the machine does meets all of them. What is compared are ratios within one round, and what is
reported is the median of the rounds. A contestant that loses or doubles a message has no result; of a peer
that is a finding, which the report tells, of the bridge it is a failure.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import report
from contestants import LOAD_CORE, SERVER_CORE, Ports, Tools, command
from targets import Medians, Results
from works import WORKS, Contestant, Work

#: The status of the load tool when messages did not arrive exactly once.
LOST = 3
PEERS = ("Nchan", "aiohttp", "websockets")


@dataclass(frozen=True)
class Failure:
    """A measurement without a result."""

    status: int
    why: str

    def is_finding_about(self, contestant: str) -> bool:
        """Whether this tells how a peer is, and not that the measurement went wrong."""
        return self.status == LOST and contestant.startswith(PEERS)


def measure(work: Work, contestant: Contestant, tools: Tools, seconds: float) -> dict[str, float] | Failure:
    if work.mode == "values":
        own = contestant.name.startswith("wsbridge")
        command_line = [str(tools.at / "pointers"), "wsbridge" if own else contestant.name]
        return outcome(
            work, contestant, [*pinned([SERVER_CORE]), *command_line, str(work.size), str(seconds)]
        )
    ports = Ports.free()
    server, has_upstream = command(contestant.started, tools, ports, contestant.links, work.size)
    load = [str(tools.at / "load"), work.mode, "--streams", str(work.streams), "--size", str(work.size)]
    load += [
        "--seconds",
        str(seconds * work.longer),
        "--links",
        str(contestant.links),
        *work.load,
        *contestant.load,
    ]
    if not contestant.started.endswith("client"):
        load += ["--port", str(ports.listen)]
    if has_upstream:
        load += ["--upstream", str(ports.upstream)]
    if work.mode == "post" or (not has_upstream and work.mode in ("one", "flat")):
        load += ["--publish", "/messages"]
    load_cores, server_cores = cores(contestant)
    return outcome(work, contestant, [*pinned(load_cores), *load, "--", *pinned(server_cores), *server])


def outcome(work: Work, contestant: Contestant, command_line: list[str]) -> dict[str, float] | Failure:
    """Run what measures, and read what it prints."""
    try:
        done = subprocess.run(
            command_line,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Failure(1, "took more than two minutes")
    if done.returncode == 0:
        return json.loads(done.stdout)
    print(f"\n{work.name}, {contestant.name}: {done.stderr.strip()[-300:]}", file=sys.stderr)
    return Failure(done.returncode, (done.stderr.strip().splitlines() or [""])[-1].removeprefix("load: "))


def cores(contestant: Contestant) -> tuple[list[int], list[int]]:
    """Return where the load and the server run; nothing: anywhere."""
    if contestant.cores == "free":
        return [], []
    if contestant.cores == "shared":
        return [SERVER_CORE], [SERVER_CORE]
    # Two processes that serve need both cores.
    both = contestant.started.endswith("2 workers")
    return [LOAD_CORE], [SERVER_CORE, LOAD_CORE] if both else [SERVER_CORE]


def pinned(cores: list[int]) -> list[str]:
    return ["taskset", "-c", ",".join(map(str, cores))] if cores else []


def medians(results: Results) -> Medians:
    """Return the median of each figure, for those that gave a result in every round."""
    found = {}
    for key, rounds in results.items():
        if all(rounds):
            names = rounds[0].keys() - {"mode"}
            found[key] = {name: statistics.median(one[name] for one in rounds) for name in names}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=Path, required=True, help="the folder of the programs and venv")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each measurement")
    parser.add_argument(
        "--only", default="", help="do the works alone whose name has this, or this|that, in it"
    )
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    if (os.cpu_count() or 1) < 2:
        sys.exit("two cores are needed: one for the server, one for the load")

    works = [work for work in WORKS if any(part in work.name for part in options.only.split("|"))]
    tools = Tools(options.tools.absolute())
    results: Results = defaultdict(list)
    findings: dict[tuple[str, str], list[str]] = defaultdict(list)
    incomplete = set()
    began, loads = time.monotonic(), [os.getloadavg()[0]]
    for number in range(1, options.rounds + 1):
        for work in works:
            for contestant in work.entrants:
                doing = f"round {number}/{options.rounds}: {work.name}, {contestant.name}"
                print(f"\r{doing}\x1b[K", end="", flush=True)
                result = measure(work, contestant, tools, options.seconds)
                key = (work.name, contestant.name)
                results[key].append(None if isinstance(result, Failure) else result)
                if isinstance(result, Failure) and result.is_finding_about(contestant.started):
                    findings[key].append(result.why)
                elif isinstance(result, Failure):
                    incomplete.add(", ".join(key))
        loads.append(os.getloadavg()[0])
    print("\r\x1b[K", end="")

    text = report.text(
        dict(results),
        medians(results),
        findings,
        [
            (work.name, work.columns or work.mode, [contestant.name for contestant in work.entrants])
            for work in works
        ],
        report.Circumstances(
            rounds=options.rounds,
            seconds=options.seconds,
            took=time.monotonic() - began,
            loads=loads,
            binary_bytes=(tools.at / "wsbridge").stat().st_size,
            python=tools.python,
        ),
    )
    print(text)
    former = options.output.read_text() if options.output.is_file() else ""
    for heading in report.SOAKED:
        if kept := report.section_of(former, heading):
            text = report.with_section(text, kept)
    options.output.write_text(text)
    if incomplete:
        print("no result in every round: " + "; ".join(sorted(incomplete)), file=sys.stderr)
    return 1 if incomplete else 0


if __name__ == "__main__":
    sys.exit(main())
