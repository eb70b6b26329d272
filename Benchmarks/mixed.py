"""An hour of everything at once, at the pace of a working day: nothing may grow in its second half.

Clients post, read, poll and ask; upstreams come and go, connections too; the configuration is read again and
again; everything is kept on disk. Every now and then all clients rest, and what the bridge holds is noted:
descriptors, anonymous memory, and what its store takes on disk.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import mixed_clients
import report
from contestants import Ports
from mixed_upstream import Upstream

#: Growth that counts as none, in percent of the third quarter's most.
ALLOWED = 2.0
#: By how much the allocator grows at once (`M_TOP_PAD`), and SQLite's log does.
STEP = 128 * 1024
#: What the file of SQLite's log may take for a while; it is used again from its beginning.
LOG_STEP = 4 << 20
#: Few enough to be full long before the second half.
HISTORY = {"maxMessages": 2000, "maxBytes": "2MiB", "includeSent": True}
HASTE = {"initialDelay": "50ms", "maxDelay": "200ms", "resetAfter": "1s"}


@dataclass
class Sample:
    """What the bridge holds while nobody asks anything of it."""

    seconds: float
    descriptors: int
    memory: int
    disk: int

    @staticmethod
    def of(pid: int, seconds: float, store: Path) -> Sample:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        anonymous = next(line for line in rollup if line.startswith("Anonymous:"))
        disk = sum(file.stat().st_size for file in store.iterdir())
        return Sample(seconds, len(os.listdir(f"/proc/{pid}/fd")), int(anonymous.split()[1]) * 1024, disk)


class Bridge:
    """A bridge with a file that is written anew, and a store."""

    def __init__(self, binary: Path, folder: Path, upstreams: dict[str, Upstream]):
        self.file = folder / "wsbridge.json"
        self.store = folder / "data"
        self._upstreams = upstreams
        self._numbers = itertools.count(1)
        self._write(0)
        port = Ports.free().listen
        self.base = f"http://127.0.0.1:{port}"
        self._log = (folder / "log").open("wb")
        command = [binary, "serve", "--config", self.file, "--listen", f"127.0.0.1:{port}"]
        self.process = subprocess.Popen(command, stderr=self._log)

    def _write(self, number: int) -> None:
        """Write the file with what changes from time to time."""
        steady = {
            "url": self._upstreams["steady"].url,
            "rules": [{"when": {"json": {"/kind": None}}, "topic": "kinds.{{/kind}}"}],
            "request": {"correlate": "/id"},
        }
        flaky = {"url": self._upstreams["flaky"].url, "reconnect": HASTE, "heartbeat": {"interval": "1s"}}
        changing = {
            "url": self._upstreams["steady"].url,
            "idleTimeout": 60 + number % 2,
            "connect": "onDemand",
        }
        text = {
            "http": {"dynamicConnections": True, "retry": 1 + number % 3},
            "storage": {"directory": "data"},
            "history": HISTORY,
            "connections": {"default": steady, "flaky": flaky, "changing": changing},
        }
        # Now and then as an editor leaves it half-way.
        self.file.write_text(json.dumps(text)[: None if number % 5 else 200] if number else json.dumps(text))

    def reload(self) -> None:
        self._write(next(self._numbers))
        self.process.send_signal(signal.SIGHUP)

    async def stop(self) -> None:
        self.process.terminate()
        code = await asyncio.to_thread(self.process.wait)
        self._log.close()
        assert code == 0, f"the bridge ended with {code}"


async def soak(
    binary: Path, folder: Path, minutes: float, pace: float
) -> tuple[list[Sample], dict[str, int]]:
    """Do everything for so long; return what was noted, and how often everything was done."""
    upstreams = {"steady": Upstream(), "flaky": Upstream(is_flaky=True)}
    for upstream in upstreams.values():
        await upstream.listen()
    bridge = Bridge(binary, folder, upstreams)
    clients = mixed_clients.Clients(bridge.base, random.Random(1), pace)
    samples: list[Sample] = []
    try:
        await clients.await_ready()
        began, rest = time.monotonic(), max(minutes, 10)
        while (passed := time.monotonic() - began) < minutes * 60:
            assert bridge.process.poll() is None, f"the bridge ended with {bridge.process.returncode}"
            await clients.work(rest, bridge.reload)
            await clients.leave()
            samples.append(Sample.of(bridge.process.pid, passed, bridge.store))
            tell(samples[-1], minutes)
        await clients.check(upstreams["steady"])
    finally:
        await clients.close()
        with contextlib.suppress(ProcessLookupError):
            await bridge.stop()
    print()
    return samples, {**clients.counts, "messages received": sum(it.said for it in upstreams.values())}


def tell(sample: Sample, minutes: float) -> None:
    print(
        f"\r{sample.seconds / 60:5.1f} of {minutes:g} min: {sample.descriptors} descriptors, "
        f"{sample.memory / 1e6:.2f} MB, {sample.disk / 1e6:.2f} MB on disk\x1b[K",
        end="",
        flush=True,
    )


@dataclass
class Finding:
    """A figure in the third quarter and in the last."""

    name: str
    third: int
    last: int
    #: More than which it must not grow.
    allowed: float

    @property
    def is_met(self) -> bool:
        return self.last - self.third <= self.allowed

    def row(self) -> str:
        if self.name == "Descriptors":
            figures = f"{self.third} → {self.last} | {self.last - self.third:+d}"
        else:
            growth = (self.last / self.third - 1) * 100
            figures = f"{self.third / 1e6:.2f} → {self.last / 1e6:.2f} MB | {growth:+.2f} %"
        return f"| {self.name} | {figures} | {'met' if self.is_met else '**missed**'} |"


def findings(samples: list[Sample]) -> list[Finding]:
    """Compare the quarters of the second half; until then everything may find its size."""
    half = samples[len(samples) // 2 :]
    third, last = half[: len(half) // 2], half[len(half) // 2 :]

    def most(of: list[Sample], figure: str) -> int:
        return max(getattr(sample, figure) for sample in of)

    return [
        Finding("Descriptors", most(third, "descriptors"), most(last, "descriptors"), 0),
        Finding(
            "Memory",
            most(third, "memory"),
            most(last, "memory"),
            max(STEP, most(third, "memory") * ALLOWED / 100),
        ),
        Finding(
            "Store on disk",
            most(third, "disk"),
            most(last, "disk"),
            max(LOG_STEP, most(third, "disk") * 0.02),
        ),
    ]


def section(
    minutes: float, pace: float, samples: list[Sample], counts: dict[str, int], found: list[Finding]
) -> str:
    done = ", ".join(f"{count:,} {what}" for what, count in counts.items())
    lines = [
        report.MIXED,
        "",
        f"Written by `make soak`, {report.origin()}: {minutes:g} minutes at {pace:g} times the usual pace,",
        f"{len(samples)} samples, each taken while all clients rest. The most of the third quarter is",
        f"compared with the most of the last one. Wanted: as many descriptors; at most {ALLOWED:g} % more",
        "memory, or the 128 KiB that the allocator takes at once; at most 2 % more on disk, or 4 MiB, as the",
        "log of SQLite has its own ups and downs. Every message that was accepted was sent to the upstream,",
        "and every answer was one that the contract has.",
        "",
        f"{done[0].upper()}{done[1:]}.",
        "",
        "| | Third quarter → last | Growth | |",
        "|---|---:|---:|---|",
        *(finding.row() for finding in found),
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--pace", type=float, default=1, help="how busy all are: 2 is twice as much")
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wsbridge-mixed-") as folder:
        samples, counts = asyncio.run(soak(given.binary.absolute(), Path(folder), given.minutes, given.pace))
    found = findings(samples)
    text = given.output.read_text() if given.output.is_file() else ""
    given.output.write_text(
        report.with_section(text, section(given.minutes, given.pace, samples, counts, found))
    )
    for finding in found:
        print(finding.row())
    return 0 if all(finding.is_met for finding in found) else 1


if __name__ == "__main__":
    sys.exit(main())
