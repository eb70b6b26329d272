"""Wears the bridge: thousands of connections, one after the other and at once, must leave nothing behind.

Each work is done until the bridge is warm, then many times more. What it holds then is compared with what it
held when it was warm: descriptors, and memory. That is what /proc calls anonymous: heap, stacks and written
data, with what the allocator keeps, but without files, which come and go with the page cache.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import report
from contestants import Ports
from soak_upstream import Upstream

#: Dials as fast as they can be, and a history that is full long before the bridge is warm.
HASTE = {"initialDelay": "10ms", "maxDelay": "10ms", "jitter": 0, "resetAfter": "0s"}
HISTORY = {"maxMessages": 100}
#: Says nothing by itself.
QUIET = {"heartbeat": {"interval": 0}}
#: A name that cannot be one, so that nobody is asked for it.
NO_NAME = "ws://-x.invalid/"
#: Growth that counts as none, in percent.
ALLOWED = 2.0


@dataclass
class Footprint:
    """What a process holds."""

    descriptors: int
    memory: int

    @staticmethod
    def of(pid: int) -> Footprint:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        anonymous = next(line for line in rollup if line.startswith("Anonymous:"))
        return Footprint(len(os.listdir(f"/proc/{pid}/fd")), int(anonymous.split()[1]) * 1024)


@dataclass
class Outcome:
    """One work's figures."""

    name: str
    warm: Footprint
    worn: Footprint
    times: int
    seconds: float

    @property
    def growth(self) -> float:
        """In percent."""
        return (self.worn.memory / self.warm.memory - 1) * 100

    @property
    def is_met(self) -> bool:
        return self.growth <= ALLOWED and self.worn.descriptors == self.warm.descriptors

    def row(self) -> str:
        return (
            f"| {self.name} | {self.warm.descriptors} → {self.worn.descriptors} "
            f"| {self.warm.memory / 1e6:.2f} → {self.worn.memory / 1e6:.2f} MB | {self.growth:+.2f} % "
            f"| {(self.worn.memory - self.warm.memory) / self.times:+.0f} B "
            f"| {'met' if self.is_met else '**missed**'} |"
        )


class Bridge:
    """A bridge that serves a file, which may be written anew."""

    def __init__(self, binary: Path, folder: Path):
        self._binary = binary
        self._file = Path(tempfile.mkdtemp(dir=folder)) / "wsbridge.json"

    def configure(self, connections: dict[str, dict[str, Any]]) -> None:
        self._file.write_text(json.dumps({"history": HISTORY, "connections": connections}))

    def start(self) -> None:
        port = Ports.free().listen
        command = [self._binary, "serve", "--config", self._file, "--listen", f"127.0.0.1:{port}"]
        # Its log is written, and read by nobody.
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        self._base = f"http://127.0.0.1:{port}"

    async def answers(self) -> bool:
        try:
            await asyncio.to_thread(self.ask, "GET", "/status")
        except urllib.error.URLError:
            return False
        return True

    def reload(self) -> None:
        self._process.send_signal(signal.SIGHUP)

    def ask(self, method: str, target: str) -> dict[str, Any]:
        request = urllib.request.Request(self._base + target, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    async def count(self, counter: str) -> int:
        """Return a counter of the only connection."""
        return (await asyncio.to_thread(self.ask, "GET", "/status"))["counters"][counter]

    async def footprint(self) -> Footprint:
        # Time for what was let go of to be closed.
        await asyncio.sleep(1)
        return Footprint.of(self._process.pid)

    async def stop(self) -> None:
        self._process.terminate()
        assert await asyncio.to_thread(self._process.wait) == 0, "the bridge did not end cleanly"


@dataclass
class Options:
    binary: Path
    folder: Path
    times: int
    warm_up: int
    crowd: int
    rounds: int
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def warm_up_rounds(self) -> int:
        # A crowd lies a little differently each time, until it has lain everywhere.
        return 3 * self.rounds


async def until(count: Callable[[], Awaitable[int]], wanted: int, what: str) -> None:
    """Wait until there are so many, or give up."""
    deadline = time.monotonic() + 600
    while (now := await count()) < wanted:
        if time.monotonic() > deadline:
            sys.exit(f"only {now} of {what}")
        await asyncio.sleep(0.05)


async def one_after_the_other(
    options: Options, name: str, url: str, counter: str, settings: dict[str, Any]
) -> None:
    """Dial again and again until `counter` of the status says so."""
    bridge = Bridge(options.binary, options.folder)
    bridge.configure({"default": {"url": url, "reconnect": HASTE, **settings}})
    bridge.start()
    await until(bridge.answers, 1, "the bridge answers")
    began = time.monotonic()

    async def footprint_after(count: int) -> Footprint:
        await until(lambda: bridge.count(counter), count, f"{count} {counter}")
        await asyncio.to_thread(bridge.ask, "POST", "/pause")
        footprint = await bridge.footprint()
        await asyncio.to_thread(bridge.ask, "POST", "/resume")
        return footprint

    warm = await footprint_after(options.warm_up)
    worn = await footprint_after(options.warm_up + options.times)
    await bridge.stop()
    tell(options, Outcome(name, warm, worn, options.times, time.monotonic() - began))


async def all_at_once(options: Options, name: str, upstream: Upstream, settings: dict[str, Any]) -> None:
    """Add a crowd of connections and remove it, round for round."""
    bridge = Bridge(options.binary, options.folder)
    idle = {"idle": {"url": upstream.url, "connect": "manual"}}
    bridge.configure(idle)
    bridge.start()
    await until(bridge.answers, 1, "the bridge answers")
    began = time.monotonic()

    async def round_of(number: int) -> None:
        crowd = {f"c{number}-{n}": {"url": upstream.url, **QUIET, **settings} for n in range(options.crowd)}
        bridge.configure(idle | crowd)
        bridge.reload()
        await upstream.has(options.crowd)
        bridge.configure(idle)
        bridge.reload()
        await upstream.has(0)

    warm_up = options.warm_up_rounds
    for number in range(warm_up):
        await round_of(number)
    warm = await bridge.footprint()
    for number in range(options.rounds):
        await round_of(warm_up + number)
    worn = await bridge.footprint()
    await bridge.stop()
    times = options.crowd * options.rounds
    tell(options, Outcome(name, warm, worn, times, time.monotonic() - began))


def tell(options: Options, outcome: Outcome) -> None:
    options.outcomes.append(outcome)
    print(f"{outcome.seconds:4.0f} s {outcome.row()}", flush=True)


def certificate(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """Return a certificate that vouches for itself, and a server's context with it."""
    key, file = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    command += ["-subj", "/CN=soak", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", file]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key)
    return file, context


async def work(options: Options) -> None:
    file, context = certificate(options.folder)
    authority = {"ca": str(file)}
    plain, secure = Upstream(), Upstream(context)
    refusing, faithful = Upstream(refuses=True), Upstream(stays=True)
    faithful_secure = Upstream(context, stays=True)
    for upstream in (plain, secure, refusing, faithful, faithful_secure):
        await upstream.listen()
    n = f"{options.times:,}"
    # All together: they mostly wait for the shortest delay there is.
    dials = [
        (f"{n} reconnects", plain.url, "opens", {"compression": False}),
        (f"{n} reconnects, compressed messages", plain.url, "opens", {}),
        (f"{n} reconnects over TLS", secure.url, "opens", {"tls": authority}),
        (f"{n} refused dials", "ws://127.0.0.1:9/", "failures", {}),
        (f"{n} refused handshakes", refusing.url, "failures", {}),
        (f"{n} refused certificates", secure.url, "failures", {}),
        (f"{n} names without an address", NO_NAME, "failures", {}),
    ]
    await asyncio.gather(*(one_after_the_other(options, *dial) for dial in dials))
    crowds = f"{options.rounds} × {options.crowd:,} connections at once"
    await all_at_once(options, crowds, faithful, {})
    await all_at_once(options, f"{crowds}, over TLS", faithful_secure, {"tls": authority})


def section(options: Options) -> str:
    lines = [
        report.LEFTOVERS,
        "",
        f"Written by `make soak`, {report.origin()}. A bridge is warm after {options.warm_up:,} dials, or "
        f"{options.warm_up_rounds} crowds;",
        "what it holds then is compared with what it holds at the end. Memory is anonymous memory.",
        f"Wanted: as many descriptors, and at most {ALLOWED:g} % more memory. The allocator takes 128 KiB at",
        "once (`M_TOP_PAD`), so a process of 3 MB grows by steps of 4 %. What a crowd had stays with it, for",
        "the next one.",
        "",
        "| Work | Descriptors | Memory | Growth | Each | |",
        "|---|---:|---:|---:|---:|---|",
        *(outcome.row() for outcome in options.outcomes),
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument(
        "--times", type=int, default=10_000, help="dials of a work that dials again and again"
    )
    parser.add_argument("--crowd", type=int, default=1000, help="connections at once")
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory(prefix="wsbridge-soak-") as folder:
        options = Options(
            given.binary.absolute(), Path(folder), given.times, max(given.times // 10, 1), given.crowd, 12
        )
        asyncio.run(work(options))
    text = given.output.read_text() if given.output.is_file() else ""
    given.output.write_text(report.with_section(text, section(options)))
    return 0 if all(outcome.is_met for outcome in options.outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
