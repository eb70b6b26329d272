"""Networks to break: namespaces of the kernel, joined by a cable. They need root."""

from __future__ import annotations

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

    def __init__(self) -> None:
        self.name = f"wsbridge-{os.getpid()}-{next(_numbers)}"
        ip("netns", "add", self.name)
        self.ip("link", "set", "lo", "up")
        #: A command that runs another one in there.
        self.wrapper = ["ip", "netns", "exec", self.name]

    @property
    def _files(self) -> Path:
        """What `ip netns exec` shows in /etc."""
        return Path("/etc/netns") / self.name

    def ip(self, *words: str) -> str:
        """Run `ip` in there."""
        return ip("-n", self.name, *words)

    def name_hosts(self, hosts: dict[str, str]) -> None:
        """Have these names stand for addresses in processes of that network, and no others be known."""
        self._files.mkdir(parents=True, exist_ok=True)
        (self._files / "hosts").write_text("".join(f"{address} {name}\n" for name, address in hosts.items()))
        (self._files / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        (self._files / "nsswitch.conf").write_text("hosts: files dns\n")

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
