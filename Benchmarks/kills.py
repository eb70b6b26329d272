"""Kills the bridge hundreds of times while clients send, and checks each time what it had promised.

The ordeal is that of the end-to-end tests; here it goes on for longer, and its figures are told.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import report

sys.path.append(str(Path(__file__).parents[1] / "Tests/EndToEnd"))

from harness.ordeal import Account, Ordeal


def ordeal(binary: Path, confirm: str, kills: int) -> Account:
    def tell(number: int) -> None:
        print(f"\rconfirm: {confirm}, kill {number}/{kills}\x1b[K", end="", flush=True)

    with tempfile.TemporaryDirectory(prefix="wsbridge-kills-") as folder:
        account = Ordeal(Path(folder), confirm=confirm, binary=binary).run(kills, tell)
    print("\r\x1b[K", end="")
    return account


def row(confirm: str, it: Account) -> str:
    median, worst = it.start
    return (
        f"| `{confirm}` | {it.kills:,} | {it.accepted:,} | 0 | {it.unknown:,} | {it.received:,} "
        f"| {it.duplicates:,} | {it.most_duplicates} | {median * 1000:.0f} ms | {worst * 1000:.0f} ms |"
    )


def section(rows: list[str]) -> str:
    lines = [
        report.KILLS,
        "",
        f"Written by `make soak`, {report.origin()}. Six clients send as fast as they can, some with keys,",
        "some lines, some waiting until it is sent; the bridge is killed at random points, also as it starts",
        "and stops. Accepted messages must arrive, in order, and only what was in flight may arrive again:",
        "whatever else fails the run. Of requests that a kill cut off nobody knows whether they were taken;",
        "those with keys are asked again until that is known.",
        "",
        "| `confirm` | Kills | Accepted | Lost | Cut off | Arrived | Again | Most at once | Start | Worst |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        *rows,
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--kills", type=int, default=300, help="of each kind of proof")
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args()
    binary = given.binary.absolute()
    rows = [row(confirm, ordeal(binary, confirm, given.kills)) for confirm in ("written", "pong")]
    text = given.output.read_text() if given.output.is_file() else ""
    given.output.write_text(report.with_section(text, section(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
