"""Networks to break: namespaces of the kernel, joined by cables. They need root."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType

from .patience import PATIENCE

_LIBC = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000
_numbers = itertools.count()


def ip(*words: str) -> str:
    """Run `ip` of iproute2, which must succeed."""
    done = subprocess.run(
        ["ip", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"
    return done.stdout


class IsolatedNetwork:
    """A network of its own, in which nothing but loopback is up.

    As a context it moves the calling thread there: a socket that is made inside stays there for good.
    One thread must not enter it twice.
    """

    def __init__(self, name: str | None = None) -> None:
        """Make it, or take the namespace that has this name already."""
        assert os.geteuid() == 0, "tests with a network of their own must be run by root (as in a container)"
        if name is None:
            name = f"wsbridge-{os.getpid()}-{next(_numbers)}"
            ip("netns", "add", name)
        self.name = name
        #: What runs a command inside; it becomes the command, with the same process id.
        self.wrapper = ["ip", "netns", "exec", self.name]
        #: What `ip netns exec` shows in /etc.
        self._files = Path("/etc/netns") / self.name
        self.ip("link", "set", "lo", "up")

    def ip(self, *words: str) -> str:
        """Run `ip` in there."""
        return ip("-n", self.name, *words)

    def names(self, *lines: str) -> None:
        """Let names have addresses, as these lines of a hosts file say, and no others be known.

        Call it once before a process starts; it sees what later calls change.
        """
        self._write("nsswitch.conf", "hosts: files dns")
        if not (self._files / "resolv.conf").exists():
            self.name_server("127.0.0.1")  # where nobody answers
        self._write("hosts", *lines)

    def name_server(self, address: str, *, options: str = "") -> None:
        """Let other names be asked for at this address; call it before a process starts."""
        self._write("resolv.conf", f"nameserver {address}", f"options {options}")

    def prefers(self, family: int) -> None:
        """Let the system put addresses of this family first; call it before a process starts."""
        self._write("gai.conf", f"precedence ::ffff:0:0/96 {100 if family == 4 else 1}")

    def _write(self, file: str, *lines: str) -> None:
        self._files.mkdir(parents=True, exist_ok=True)
        # In place, because a running process sees this very file.
        (self._files / file).write_text("".join(f"{line}\n" for line in lines))

    def remove(self) -> None:
        ip("netns", "del", self.name)
        shutil.rmtree(self._files, ignore_errors=True)

    def __enter__(self) -> IsolatedNetwork:
        self._home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        there = os.open(f"/run/netns/{self.name}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _enter(there)
        finally:
            os.close(there)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            _enter(self._home)
        finally:
            os.close(self._home)


def _enter(descriptor: int) -> None:
    if _LIBC.setns(descriptor, _CLONE_NEWNET) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


class JoinedNetwork(IsolatedNetwork):
    """A network that is joined to the tests' own by a cable.

    `outside` and `outside6` are the tests' end, `inside` and `inside6` the other one. `silent` and `silent6`
    are addresses at the tests' end that nobody has: what is sent there is swallowed.
    """

    def __init__(self) -> None:
        number = next(number for number in range(512) if _claims(f"wsb-{number}"))
        super().__init__(f"wsb-{number}")
        # A /24 of the benchmarking range (RFC 2544) and a /64 for documentation (RFC 3849) for each.
        network, network6 = f"198.{18 + number // 256}.{number % 256}", f"2001:db8:{number + 1:x}:"
        self.outside, self.second_outside, self.inside, self.silent = (
            f"{network}.{end}" for end in (1, 2, 3, 4)
        )
        self.outside6, self.inside6, self.silent6 = (f"{network6}:{end}" for end in (1, 3, 4))
        try:
            self._join()
        except BaseException:
            self.remove()
            raise

    def _join(self) -> None:
        self.names("127.0.0.1 localhost")
        ip("link", "add", self.name, "type", "veth", "peer", "name", "cable", "netns", self.name)
        for address in (f"{self.outside}/24", f"{self.second_outside}/24"):
            ip("address", "add", address, "dev", self.name)
        ip("-6", "address", "add", f"{self.outside6}/64", "dev", self.name, "nodad")
        ip("link", "set", self.name, "up")
        self.ip("address", "add", f"{self.inside}/24", "dev", "cable")
        self.ip("-6", "address", "add", f"{self.inside6}/64", "dev", "cable", "nodad")
        self.ip("link", "set", "cable", "up")
        for silent in (self.silent, self.silent6):
            # A station that is not there: packets to it leave, and the other end is not the one they are for.
            station = ["lladdr", "02:00:00:00:de:ad", "dev", "cable", "nud", "permanent"]
            self.ip("neighbour", "add", silent, *station)

    def remove(self) -> None:
        # The cable would go with the namespace, but only some time later.
        with contextlib.suppress(AssertionError):
            ip("link", "delete", self.name)
        super().remove()


def _claims(name: str) -> bool:
    """Make the namespace, unless somebody has it already."""
    try:
        ip("netns", "add", name)
    except AssertionError as error:
        if "File exists" in str(error):
            return False
        raise
    return True


class Cable:
    """Two namespaces, joined by a cable with an address of each family at both ends."""

    #: The near end, where the bridge is, and the far one, where its upstream is.
    NEAR = {4: "10.77.0.1/24", 6: "fd77::1/64"}
    FAR = {4: "10.77.0.2", 6: "fd77::2"}
    #: An address at the far end that only a default route leads to.
    BEYOND = {4: "198.18.0.7", 6: "fd99::7"}

    def __init__(self) -> None:
        self.near = IsolatedNetwork()
        self.far = IsolatedNetwork()
        self.near.ip("link", "add", "near", "type", "veth", "peer", "name", "far", "netns", self.far.name)
        for family in (4, 6):
            self.give_address(self.NEAR[family])
            self.far.ip(
                "addr",
                "add",
                f"{self.FAR[family]}/{24 if family == 4 else 64}",
                "dev",
                "far",
                *self._sure(family),
            )
            self.far.ip("addr", "add", self.BEYOND[family], "dev", "lo")
        self.far.ip("link", "set", "far", "up")
        self.plug_in()

    @staticmethod
    def _sure(family: int) -> list[str]:
        # Without waiting for somebody else who has it.
        return ["nodad"] if family == 6 else []

    # What happens to networks

    def plug_in(self) -> None:
        self.near.ip("link", "set", "near", "up")
        # What is set by hand is lost with the link.
        for address in self.NEAR.values():
            self.give_address(address)

    def unplug(self) -> None:
        self.near.ip("link", "set", "near", "down")

    def give_address(self, address: str) -> None:
        self.near.ip("addr", "replace", address, "dev", "near", *self._sure(6 if ":" in address else 4))

    def take_address(self, address: str) -> None:
        self.near.ip("addr", "del", address, "dev", "near")

    def remove(self) -> None:
        self.near.remove()
        self.far.remove()
