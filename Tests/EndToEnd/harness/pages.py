"""The fenced blocks of the pages that users read, for tests that prove them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .environment import ROOT

#: A mark on the line above a block that nothing executes; it has to say why.
EXAMPLE = re.compile(r"<!-- example: (?P<reason>\S.*\S) -->")

FENCE = re.compile(r"(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>.*)")

#: Programs that a block of shell can be about; its lines may use others as well.
PROGRAMS = ("curl", "docker", "make", "wsbridge")


@dataclass(frozen=True)
class Block:
    """A fenced block, with its page and the line of its fence."""

    page: str
    line: int
    language: str
    text: str
    #: Why nothing executes it, where it is marked.
    reason: str | None = None

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def kind(self) -> str:
        """What must execute it: the language, or for shell the program that each command is about."""
        if self.language != "sh":
            return self.language or "unlabelled"
        kinds = {program_of(command) for command in self.commands if not command.startswith("export ")}
        return kinds.pop() if len(kinds) == 1 else f"sh of {sorted(kinds)}"

    @property
    def _unfolded(self) -> str:
        """The text with each command on one line, also where its lines end with a backslash or a pipe."""
        return re.sub(r"(?<=\|)\n +", " ", re.sub(r"\\\n +", "", self.text))

    @property
    def commands(self) -> list[str]:
        return [line for line in self._unfolded.splitlines() if line and not line.startswith("#")]

    def examples(self) -> list[Example]:
        """The commands of a block of shell, each with the comments below it, up to an empty line."""
        examples = []
        for paragraph in re.split(r"\n\s*\n", self._unfolded.strip("\n")):
            command = None
            for line in paragraph.splitlines():
                if not line.startswith("#"):
                    command = Example(self, line, [])
                    examples.append(command)
                elif command:
                    command.output.append(line.removeprefix("#").removeprefix(" "))
        return examples


@dataclass(frozen=True)
class Example:
    """A command, and what it prints according to the page; `…` stands for anything in a line."""

    block: Block
    command: str
    output: list[str]

    def __str__(self) -> str:
        return f"{self.block}: {self.command}"

    @property
    def follows(self) -> bool:
        """It runs until somebody ends it."""
        return bool(re.search(r"\bcurl -s?N\b|\bwsbridge (tail|serve|demo)\b", self.command))

    def printed_in(self, output: str) -> bool:
        """Whether the output is as shown; that of a command that follows has to contain the lines shown."""
        shown = "\n".join(map(pattern, self.output or ["…"]))
        if self.follows:
            return bool(re.search(rf"^{shown}\n", output, re.MULTILINE))
        return not self.output or bool(re.fullmatch(shown, output.rstrip("\n")))


def pattern(line: str) -> str:
    return ".+".join(map(re.escape, line.split("…")))


def program_of(command: str) -> str:
    """The program that a line of shell is about: the first of `PROGRAMS` to begin a command in it, if any."""
    words = re.findall(r"(?:^|[|;&]\s*)(?:[A-Z_]+=\S+\s+)*([\w./-]+)", command)
    return next((word for word in words if word in PROGRAMS), words[0] if words else "")


def blocks_in(page: str, text: str) -> list[Block]:
    """Find the blocks of a page; one that is not closed raises `ValueError`."""
    blocks: list[Block] = []
    opened: tuple[int, re.Match[str]] | None = None
    inside: list[str] = []
    above = ""
    for number, line in enumerate(text.splitlines(), start=1):
        fence = FENCE.fullmatch(line)
        if opened is None and fence:
            opened, inside = (number, fence), []
            reason = EXAMPLE.fullmatch(above.strip())
        elif opened and fence and fence["fence"].startswith(opened[1]["fence"]) and not fence["info"].strip():
            language = opened[1]["info"].strip()
            content = "".join(f"{line.removeprefix(opened[1]['indent'])}\n" for line in inside)
            blocks.append(Block(page, opened[0], language, content, reason["reason"] if reason else None))
            opened = None
        elif opened:
            inside.append(line)
        above = line
    if opened:
        raise ValueError(f"{page}:{opened[0]}: the block has no end")
    return blocks


def user_pages() -> dict[str, str]:
    """The pages for users, with their text: the README, and those directly in `docs`."""
    paths: Iterable[Path] = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return {str(path.relative_to(ROOT)): path.read_text() for path in paths}


def user_blocks() -> list[Block]:
    return [block for page, text in user_pages().items() for block in blocks_in(page, text)]


def blocks_of(kind: str) -> list[Block]:
    """The blocks of a kind that have to be executed; there must be some."""
    blocks = [block for block in user_blocks() if block.kind == kind and block.reason is None]
    assert blocks, f"no page has a block of {kind}"
    return blocks
