"""What the shells themselves offer where somebody presses the key for completion."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
from pathlib import Path

from .environment import ROOT, clean_environment
from .patience import PATIENCE, Deadline

COMPLETIONS = ROOT / "config/completions"

_BASH = """
source "$1"
[ "$(complete -p wsbridge)" = "complete -F _wsbridge wsbridge" ] || exit 3
read -ra COMP_WORDS <<<"$2"
[[ $2 != *' ' ]] || COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$2 COMP_POINT=${#2}
_wsbridge wsbridge "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def bash(line: str, folder: Path = ROOT) -> set[str]:
    """The completions of a line in bash."""
    command = ["bash", "--norc", "-c", _BASH, "bash", str(COMPLETIONS / "wsbridge.bash"), line]
    return _words(command, folder)


def fish(line: str, folder: Path = ROOT) -> set[str]:
    """The completions of a line in fish."""
    script = 'source $argv[1]; complete -C "$argv[2]"'
    command = ["fish", "--no-config", "-c", script, str(COMPLETIONS / "wsbridge.fish"), line]
    return {word.split("\t")[0].rstrip("/") for word in _words(command, folder)}


def _words(command: list[str], folder: Path) -> set[str]:
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        env=clean_environment(HOME="/nonexistent"),
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done
    assert done.stderr == ""
    return set(done.stdout.split("\n")) - {""}


def zsh(line: str, folder: Path = ROOT) -> set[str]:
    """The completions of a line in zsh, which offers them in a terminal alone."""
    with _Terminal(["zsh", "-f", "-i"], folder) as terminal:
        setup = f"fpath=({COMPLETIONS} $fpath); autoload -U compinit; compinit -u -D; unsetopt beep"
        # So that the prompt is not what is read of this line itself.
        terminal.type(f"{setup}; PS1='RE''ADY> '\n")
        terminal.until(r"READY> ")
        # Control and D, in a line that is not empty, lists.
        terminal.type(f"{line}\x04 DONE")
        shown = terminal.until(r"DONE")
    # Between the line and the one where it is shown again.
    offered = [text.strip() for text in re.sub(r"\x1b\[[?\d]*\w", "", shown).split("\n")][1:-1]
    words = [text.split(" -- ")[:1] if " -- " in text else text.split() for text in offered]
    return {word.strip().rstrip("/") for group in words for word in group}


class _Terminal:
    """A program in a terminal that is wide and understands nothing."""

    def __init__(self, command: list[str], folder: Path):
        self._end, end = pty.openpty()
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 100, 200, 0, 0))
        environment = clean_environment(HOME="/nonexistent", TERM="dumb")
        self._process = subprocess.Popen(
            command, cwd=folder, stdin=end, stdout=end, stderr=end, start_new_session=True, env=environment
        )
        os.close(end)

    def __enter__(self) -> _Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._end)

    def type(self, text: str) -> None:
        os.write(self._end, text.encode())

    def until(self, pattern: str) -> str:
        """Return what is shown up to and including the first match."""
        deadline, shown = Deadline(f"{pattern} in the terminal"), ""
        while not re.search(pattern, shown):
            select.select([self._end], [], [], deadline.left())
            shown += os.read(self._end, 65536).decode(errors="replace")
        return shown
