"""Prometheus' text format 0.0.4, read as strictly as its description allows, and Prometheus' own tools."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .bridge import Bridge

#: Its labels in the order of their names.
Labels = tuple[tuple[str, str], ...]

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_SAMPLE = re.compile(rf"({_NAME})(?:\{{(.*)\}})? (\S+)")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
_PARTS = ("_bucket", "_sum", "_count")


@dataclass
class Family:
    """All series of one name."""

    name: str
    help: str
    type: str
    #: By the name of the part, such as `_sum`, or nothing, and the labels.
    samples: dict[tuple[str, Labels], float] = field(default_factory=dict)

    def label_names(self) -> set[str]:
        return {name for _, labels in self.samples for name, _ in labels} - {"le"}


class Metrics:
    """What one scrape gave."""

    def __init__(self, text: str):
        self.text = text
        self.families: dict[str, Family] = {}
        current: Family | None = None
        assert text.endswith("\n")
        for line in text[:-1].split("\n"):
            if match := re.fullmatch(rf"# HELP ({_NAME}) (.+)", line):
                assert match[1] not in self.families, f"a second group: {line}"
                current = self.families[match[1]] = Family(match[1], match[2], "")
            elif match := re.fullmatch(rf"# TYPE ({_NAME}) (counter|gauge|histogram)", line):
                assert current, line
                assert current.name == match[1], line
                assert not current.type, line
                current.type = match[2]
            else:
                assert current, line
                self._add(current, line)
        for family in self.families.values():
            _check(family)

    @staticmethod
    def _add(family: Family, line: str) -> None:
        match = _SAMPLE.fullmatch(line)
        assert match, f"not a sample: {line!r}"
        name, text, value = match.groups()
        part = name.removeprefix(family.name)
        assert part in (_PARTS if family.type == "histogram" else ("",)), f"outside of its group: {line}"
        labels = []
        while text:
            label = _LABEL.match(text)
            assert label, f"not labels: {line!r}"
            labels.append((label[1], re.sub(r"\\(.)", lambda it: {"n": "\n"}.get(it[1], it[1]), label[2])))
            text = text[label.end() :]
        assert len(dict(labels)) == len(labels), f"a label twice: {line}"
        key = (part, tuple(sorted(labels)))
        assert key not in family.samples, f"a series twice: {line}"
        family.samples[key] = float(value)

    def value(self, name: str, part: str = "", **labels: str) -> float:
        """Return the value of one series, of which there must be one."""
        return self.families[name].samples[part, tuple(sorted(labels.items()))]

    def get(self, name: str, **labels: str) -> float:
        """Return the value of one series, 0 if it is not there (yet)."""
        return self.families[name].samples.get(("", tuple(sorted(labels.items()))), 0)

    def series(self) -> dict[str, float]:
        """All series by how they are written."""
        found = {}
        for family in self.families.values():
            for (part, labels), value in family.samples.items():
                text = ",".join(f'{name}="{value}"' for name, value in labels)
                found[f"{family.name}{part}{{{text}}}"] = value
        return found

    def label_values(self) -> set[str]:
        return {value for it in self.families.values() for _, labels in it.samples for _, value in labels}


def _check(family: Family) -> None:
    assert family.type, f"{family.name} has no type"
    assert all(value >= 0 for value in family.samples.values()), family
    if family.type != "histogram":
        return
    buckets: dict[Labels, list[tuple[float, float]]] = {}
    for (part, labels), value in family.samples.items():
        if part == "_bucket":
            bound = float(dict(labels)["le"])
            buckets.setdefault(tuple(it for it in labels if it[0] != "le"), []).append((bound, value))
    for labels, row in buckets.items():
        assert [bound for bound, _ in row] == sorted({bound for bound, _ in row}), f"{family.name}{labels}"
        assert [count for _, count in row] == sorted(count for _, count in row), f"{family.name}{labels}"
        assert row[-1][0] == float("inf")
        assert family.samples["_count", labels] == row[-1][1]
        assert ("_sum", labels) in family.samples


def scrape(bridge: Bridge, token: str | None = None) -> Metrics:
    """Ask for the metrics, as Prometheus does."""
    response = bridge.get("/metrics", {"Authorization": f"Bearer {token}"} if token else None)
    assert response.status == 200, response
    return Metrics(response.body.decode())


def promtool(*arguments: object, stdin: str = "") -> str:
    """Run promtool, which must be content, and return what it says."""
    done = subprocess.run(
        ["promtool", *map(str, arguments)], input=stdin, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
