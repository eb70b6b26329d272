"""Every recipe is in the index and followed by a test, and has nothing that is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.environment import ROOT
from harness.pages import blocks_in
from recipes import Recipe

FOLDER = ROOT / "docs/recipes"
#: Blocks besides configurations and lines of curl, which the page's own test runs.
OWN = {
    "browser-page": ["html", "js"],
    "cron-to-chat": ["crontab"],
    "json-rpc-from-shell": ["bash", "text"],
    "shell-loop-over-trades": ["bash", "text"],
}
PAGES = sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "README")


def test_the_index_has_every_page() -> None:
    assert sorted(re.findall(r"\]\(([\w.-]+)\.md\)", (FOLDER / "README.md").read_text())) == PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_test_follows_the_page(name: str) -> None:
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert re.search(rf'\bRecipe\("{re.escape(name)}", ', tests)


@pytest.mark.parametrize("name", PAGES)
def test_whoever_follows_a_page_gets_all_of_it(name: str, tmp_path: Path) -> None:
    """There is one configuration, and what else there is can be run."""
    recipe = Recipe(name, tmp_path)
    assert [block.text for block in recipe.blocks if block.reason] == []
    kinds = [block.kind for block in recipe.blocks]
    assert kinds.count("yaml") == 1
    own = OWN.get(name, [])
    assert sorted(set(kinds) - {"yaml", "curl", "wsbridge"}) == sorted(own)
    assert all(kinds.count(kind) == 1 for kind in own)


def test_the_index_runs_one_command() -> None:
    (block,) = blocks_in("docs/recipes/README.md", (FOLDER / "README.md").read_text())
    # The one that `Recipe.serve` runs.
    assert block.text == "wsbridge serve --config wsbridge.yaml\n"
