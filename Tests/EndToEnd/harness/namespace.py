"""A network of its own for a bridge: names, addresses that answer, and addresses that do not."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path


class Namespace:
    """A network namespace that is joined to the tests' own by a cable (a veth pair).

    `outside` and `outside6` are the tests' end, `inside` the bridge's. `silent` and `silent6` are addresses
    at the other end of the cable that nobody has: what is sent there is swallowed.
    """

    def __init__(self) -> None:
        assert os.geteuid() == 0, "tests with a network of their own must be run by root (as in a container)"
        number = next(number for number in range(512) if _claims(f"wsb-{number}"))
        self.name = self._cable = f"wsb-{number}"
        # A /24 of the benchmarking range (RFC 2544) and a /64 for documentation (RFC 3849) for each.
        network, network6 = f"198.{18 + number // 256}.{number % 256}", f"2001:db8:{number + 1:x}:"
        self.outside, self.second_outside, self.inside, self.silent = (
            f"{network}.{end}" for end in (1, 2, 3, 4)
        )
        self.outside6, self.inside6, self.silent6 = (f"{network6}:{end}" for end in (1, 3, 4))
        self._folder = Path("/etc/netns") / self.name
        try:
            self._make()
        except BaseException:
            self.remove()
            raise

    def _make(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self.names("127.0.0.1 localhost")
        (self._folder / "resolv.conf").write_text("nameserver 127.0.0.1\n")
        _ip("link", "add", self._cable, "type", "veth", "peer", "name", "cable", "netns", self.name)
        for address in (f"{self.outside}/24", f"{self.second_outside}/24"):
            _ip("address", "add", address, "dev", self._cable)
        _ip("-6", "address", "add", f"{self.outside6}/64", "dev", self._cable, "nodad")
        _ip("link", "set", self._cable, "up")
        self._inside("link", "set", "lo", "up")
        self._inside("address", "add", f"{self.inside}/24", "dev", "cable")
        self._inside("-6", "address", "add", f"{self.inside6}/64", "dev", "cable", "nodad")
        self._inside("link", "set", "cable", "up")
        for silent in (self.silent, self.silent6):
            # A station that is not there: packets to it leave, and the other end is not the one they are for.
            station = ["lladdr", "02:00:00:00:de:ad", "dev", "cable", "nud", "permanent"]
            self._inside("neighbour", "add", silent, *station)

    def names(self, *lines: str) -> None:
        """Let names have addresses: lines of a hosts file, instead of those before."""
        # Written in place, because a running process sees this very file.
        (self._folder / "hosts").write_text("".join(f"{line}\n" for line in lines))

    def name_server(self, address: str, *, options: str = "") -> None:
        """Let other names be asked for at this address; call it before a process starts."""
        (self._folder / "resolv.conf").write_text(f"nameserver {address}\noptions {options}\n")

    def prefers(self, family: int) -> None:
        """Let the system put addresses of this family first; call it before a process starts."""
        (self._folder / "gai.conf").write_text(f"precedence ::ffff:0:0/96 {100 if family == 4 else 1}\n")

    @property
    def wrapper(self) -> tuple[str, ...]:
        """What runs a command inside; it becomes the command, with the same process id."""
        return "ip", "netns", "exec", self.name

    def _inside(self, *arguments: str) -> None:
        _ip("-netns", self.name, *arguments)

    def remove(self) -> None:
        # The cable goes with it, once nobody runs inside.
        subprocess.run(["ip", "link", "delete", self._cable], check=False, capture_output=True)
        subprocess.run(["ip", "netns", "delete", self.name], check=False, capture_output=True)
        shutil.rmtree(self._folder, ignore_errors=True)


def _claims(name: str) -> bool:
    """Make the namespace, unless somebody has it already."""
    done = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "File exists" in done.stderr, done.stderr
    return done.returncode == 0


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(arguments)}: {done.stderr}"
