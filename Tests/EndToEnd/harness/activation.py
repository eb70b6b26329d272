"""Pass sockets to a command, as systemd does: a wrapper for `Bridge`, run as a program.

    activation.py [--to PID] SOCKET... -- COMMAND...

A socket is `tcp:HOST`, `unix:PATH` or `abstract:NAME`, which listen, or `udp`, `connected`, `idle` or `file`,
which do not.
"""

from __future__ import annotations

import os
import socket
import sys

FIRST = 3


def made(kind: str) -> int:
    name, _, rest = kind.partition(":")
    if name == "file":
        return os.open("/dev/null", os.O_RDWR)
    if name == "connected":
        return socket.socketpair()[0].detach()
    unix = name in ("unix", "abstract")
    family = socket.AF_UNIX if unix else socket.AF_INET6 if ":" in rest else socket.AF_INET
    made = socket.socket(family, socket.SOCK_DGRAM if name == "udp" else socket.SOCK_STREAM)
    if unix:
        made.bind("\0" + rest if name == "abstract" else rest)
    else:
        made.bind((rest or "127.0.0.1", 0))
    if name not in ("udp", "idle"):
        made.listen()
    return made.detach()


def main() -> None:
    words = sys.argv[1:]
    end = words.index("--")
    kinds, command = words[:end], words[end + 1 :]
    process = os.getpid()
    if kinds[:1] == ["--to"]:
        process, kinds = int(kinds[1]), kinds[2:]
    # Out of the way of where they are to be.
    descriptors = [os.dup2(made(kind), 100 + index) for index, kind in enumerate(kinds)]
    for index, descriptor in enumerate(descriptors):
        os.dup2(descriptor, FIRST + index)
        os.close(descriptor)
    os.environ |= {
        "LISTEN_PID": str(process),
        "LISTEN_FDS": str(len(kinds)),
        "LISTEN_FDNAMES": ":".join(f"socket{index}" for index in range(len(kinds))),
    }
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
