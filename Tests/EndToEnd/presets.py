"""Presets, as they are and changed for the worse, for tests that run them against stand-ins."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from harness.environment import ROOT

#: What alters a preset, given as a tree of mappings and lists.
Change = Callable[[dict[str, Any]], Any]


def preset(name: str) -> dict[str, Any]:
    """Return a preset as a tree."""
    return yaml.safe_load((ROOT / "config/presets" / f"{name}.yaml").read_text())


def configuration(name: str, url: str, folder: Path, change: Change | None = None, **settings: Any) -> str:
    """Return a configuration whose connection `default` begins with a preset and leads to a stand-in.

    Of a URL that the preset has itself the path and query are kept.
    """
    tree, begin = preset(name), name
    if change:
        change(tree)
        assert tree != preset(name), "nothing was changed"
        (folder / "changed.yaml").write_text(yaml.safe_dump(tree))
        begin = "./changed.yaml"
    if isinstance(own := tree.get("url"), str):
        base = re.match(r"ws://[^/]+", url)
        assert base, url
        url = re.sub("^wss?://[^/]+", base[0], own)
    connection = {"preset": begin, "url": url} | settings
    return yaml.safe_dump({"connections": {"default": connection}})


# Changes


def put(value: Any, *path: Any) -> Change:
    """Put another value at a path; what was there, or the last key, need not be."""

    def change(tree: dict[str, Any]) -> None:
        *parents, last = path
        _at(tree, parents)[last] = copy.deepcopy(value)

    return change


def leave_out(*path: Any) -> Change:
    """Leave out what is at a path."""

    def change(tree: dict[str, Any]) -> None:
        *parents, last = path
        del _at(tree, parents)[last]

    return change


def rewrite(old: str, new: str, *path: Any) -> Change:
    """Replace a part of a text at a path."""

    def change(tree: dict[str, Any]) -> None:
        *parents, last = path
        holder = _at(tree, parents)
        assert old in holder[last], holder[last]
        holder[last] = holder[last].replace(old, new)

    return change


def both(*changes: Change) -> Change:
    def change(tree: dict[str, Any]) -> None:
        for each in changes:
            each(tree)

    return change


def _at(tree: Any, path: list[Any]) -> Any:
    for key in path:
        tree = tree[key]
    return tree
