"""Where the product is, and what its processes inherit."""

from __future__ import annotations

import os
from pathlib import Path

#: The repository's root.
ROOT = Path(__file__).resolve().parents[3]

#: The program under test.
BINARY = ROOT / os.environ.get("WSBRIDGE_BINARY", ".build/debug/wsbridge")


def clean_environment(**extra: str) -> dict[str, str]:
    """Return the environment less what would change the product's or curl's behaviour, plus `extra`."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(("WSBRIDGE_", "SSL_CERT_")) and not name.upper().endswith("_PROXY")
    }
    return {**kept, **extra}
