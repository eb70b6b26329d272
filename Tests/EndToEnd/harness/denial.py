"""Run as a script: `denial.py WHAT PROGRAM ARGUMENT…` runs the program without something of the kernel's.

`netlink` is what some sandboxes refuse; `dup2` is what takes sockets away from the HTTP library.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_AF_NETLINK = 16
_EACCES = 13
#: The numbers of system calls, by machine.
_SOCKET = {"x86_64": 41, "aarch64": 198}
#: On aarch64 it is `dup3`.
_DUP2 = {"x86_64": 33, "aarch64": 24}


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def deny(call: int, first_argument: int | None = None) -> None:
    """Have the kernel refuse a system call to this process and those that follow from it (`seccomp(2)`)."""
    load, jump_if_equal, give = 0x20, 0x15, 0x06
    allow, refuse = 0x7FFF0000, 0x00050000 | _EACCES
    look_at_argument = [
        (load, 0, 0, 16),
        (jump_if_equal, 0, 1, first_argument),
    ]
    rest = [*(look_at_argument if first_argument is not None else []), (give, 0, 0, refuse)]
    instructions = [
        (load, 0, 0, 0),  # the number of the call
        (jump_if_equal, 0, len(rest), call),
        *rest,
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
    machine = os.uname().machine
    match sys.argv[1]:
        case "netlink":
            deny(_SOCKET[machine], _AF_NETLINK)
        case "dup2":
            deny(_DUP2[machine])
        case what:
            sys.exit(f"unknown: {what}")
    os.execv(sys.argv[2], sys.argv[2:])
