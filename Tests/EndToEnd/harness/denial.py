"""Run as a script: `denial.py PROGRAM ARGUMENT…` runs the program without netlink, as some sandboxes do."""

from __future__ import annotations

import ctypes
import os
import struct
import sys

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_AF_NETLINK = 16
_EACCES = 13
#: The number of the system call `socket`, by machine.
_SOCKET = {"x86_64": 41, "aarch64": 198}


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def deny_netlink() -> None:
    """Have the kernel refuse netlink sockets to this process and those that follow from it (`seccomp(2)`)."""
    load, jump_if_equal, give = 0x20, 0x15, 0x06
    allow, refuse = 0x7FFF0000, 0x00050000 | _EACCES
    instructions = [
        (load, 0, 0, 0),  # the number of the call
        (jump_if_equal, 0, 3, _SOCKET[os.uname().machine]),
        (load, 0, 0, 16),  # its first argument
        (jump_if_equal, 0, 1, _AF_NETLINK),
        (give, 0, 0, refuse),
        (give, 0, 0, allow),
    ]
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in instructions)
    program = _Program(len(instructions), code)
    libc = ctypes.CDLL(None, use_errno=True)
    for call in (
        (_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0),
    ):
        if libc.prctl(*call) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    deny_netlink()
    os.execv(sys.argv[1], sys.argv[1:])
