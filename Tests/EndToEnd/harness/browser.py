"""Debian's chromium, and pages of it that must not complain."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Browser, Locator, Page, sync_playwright
from playwright.sync_api import expect as expect

from .bridge import Bridge
from .environment import ROOT
from .patience import PATIENCE

#: Where pictures of the page are left.
REPORTS = ROOT / "reports"

#: What a browser says about a bridge that went away.
LOST = "ERR_(CONNECTION_|INCOMPLETE_|EMPTY_|NETWORK_)"

#: A script that takes from a page what Chrome on Android has not either.
WITHOUT_SHARED_WORKERS = "delete globalThis.SharedWorker"

expect.set_options(timeout=PATIENCE * 1000)


@contextlib.contextmanager
def running_browser() -> Iterator[Browser]:
    """Start chromium without a window."""
    program = shutil.which("chromium")
    assert program, "chromium is missing: install Debian's package of that name"
    # Its sandbox refuses to work for root.
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        yield browser
        browser.close()


class Visit:
    """A visit to a bridge's page, in a profile of its own."""

    def __init__(self, browser: Browser, bridge: Bridge, *, base: str | None = None, **options: Any):
        """Prepare a visit; options are Playwright's for a browser context.

        `base` is where the browser finds the bridge, if not at its own address.
        """
        self.base = base or bridge.base
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE * 1000)
        #: Whatever the browser complained about.
        self.complaints: list[str] = []
        #: Complaints that a test brings about on purpose, as regular expressions.
        self.expected: list[str] = []
        #: URLs asked for that are not the bridge's.
        self.outside: list[str] = []
        self.page: Page = self.new_tab()

    def new_tab(self) -> Page:
        """Make another tab of the same browser, with nothing in it yet."""
        tab = self.context.new_page()
        tab.on("console", lambda message: self._hear(message.type, message.text))
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("request", lambda request: self._see(request.url))
        return tab

    def open(self) -> Page:
        self.page.goto(self.base + "/")
        return self.page

    def open_tab(self, fragment: str = "") -> Page:
        """Open the page in another tab; the fragment names a connection."""
        tab = self.new_tab()
        tab.goto(f"{self.base}/#{fragment}")
        return tab

    def picture(self, name: str) -> None:
        REPORTS.mkdir(exist_ok=True)
        self.page.screenshot(path=REPORTS / f"page-{name}.png")

    def end(self) -> None:
        """Close the page, about which nothing may have been wrong."""
        self.context.close()
        assert self.outside == []
        unexpected = [
            text for text in self.complaints if not any(re.search(known, text) for known in self.expected)
        ]
        assert unexpected == []

    def _hear(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)

    def _see(self, url: str) -> None:
        if not url.startswith((self.base + "/", "data:", "blob:")):
            self.outside.append(url)


# What the page shows


def await_live(page: Page) -> None:
    expect(page.locator("#feed-state")).to_have_text("live")


def rows(page: Page, kind: str = "") -> Locator:
    return page.locator(f"#records .row{kind and '.' + kind}")


def payloads(page: Page, kind: str = "text") -> list[str]:
    """What the rows say that are shown, the newest first."""
    return page.locator(f"#records .row.{kind}:not([hidden]) .payload").all_text_contents()
