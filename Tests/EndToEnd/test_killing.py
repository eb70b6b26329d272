"""`kill -9` at random points, again and again; `make soak` does more of the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.ordeal import Ordeal

KILLS = 15


@pytest.mark.parametrize("confirm", ["written", "pong"])
def test_what_was_accepted_arrives_in_order_whenever_the_bridge_is_killed(
    tmp_path: Path, confirm: str
) -> None:
    account = Ordeal(tmp_path, confirm=confirm).run(KILLS)
    # It was an ordeal.
    assert account.accepted > KILLS
