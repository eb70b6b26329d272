"""Where the product is, and what its processes inherit."""

from __future__ import annotations

import os
from pathlib import Path

#: The repository's root.
ROOT = Path(__file__).resolve().parents[3]

#: The program under test.
BINARY = ROOT / os.environ.get("WSBRIDGE_BINARY", ".build/debug/wsbridge")


#: Says how event streams are written; tests of streams set it, and it may be set for all tests at once.
STREAM_MODE = "WSBRIDGE_STREAM_MODE"

#: Where it is set, all tests have their bridges speak TLS to clients, to try a module so; not all can, as
#: curl knows no authority of ours.
TLS_FOR_ALL = "WSBRIDGE_TEST_TLS"


def clean_environment(**extra: str) -> dict[str, str]:
    """Return the environment less what would change the product's or curl's behaviour, plus `extra`."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name == STREAM_MODE
        or not name.upper().startswith(("WSBRIDGE_", "SSL_CERT_"))
        and not name.upper().endswith("_PROXY")
    }
    return {**kept, **extra}
