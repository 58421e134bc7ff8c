"""Runs a real Chromium against a real dashboard.

A page that writes an error to its console, throws, or violates its content security policy fails
its test. `look` checks a page: axe in light and dark, wide and narrow, no horizontal overflow; with
`RECORD=1` it also renews the images that docs/images has, and with `RECORD=all` it writes all
others to the folder screens/.
"""

import json
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    async_playwright,
    expect,
)

from tests.support.serving import Caller
from tests.support.shop import until

ROOT: Final = Path(__file__).parents[2]
IMAGES: Final = ROOT / "docs" / "images"
AXE: Final = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
SCREENS: Final = ROOT / "screens"
RECORD: Final = os.environ.get("RECORD")
WIDE: Final = {"width": 1280, "height": 800}
NARROW: Final = {"width": 360, "height": 740}
PATIENCE: Final = 15_000
# No network of its own, no sandbox where there is no user to be, no shared memory to run out of.
FLAGS: Final = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-first-run",
    "--force-color-profile=srgb",
)
BAD: Final = {"serious", "critical"}
# Told by the browser for every answer of 400 and above, which some tests are about.
REFUSED: Final = "Failed to load resource"


def chromium_program() -> str:
    named = os.environ.get("ROTA_CHROMIUM")
    found = named or next(
        (
            place
            for name in ("chromium", "chromium-browser", "google-chrome")
            if (place := shutil.which(name))
        ),
        None,
    )
    if found is None:
        raise AssertionError("a Chromium is needed: apt-get install chromium, or ROTA_CHROMIUM")
    return found


@asynccontextmanager
async def open_chromium() -> AsyncIterator[Browser]:
    # A machine that does other things at the same time needs more than the usual five seconds.
    expect.set_options(timeout=PATIENCE)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium_program(), args=list(FLAGS)
        )
        try:
            yield browser
        finally:
            await browser.close()


@dataclass(kw_only=True)
class Faults:
    """What a page complained about, apart from what a test expects."""

    expected: list[str] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)

    def expect(self, text: str) -> None:
        """Something that the test is about."""
        self.expected.append(text)

    def hear_console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.heard.append(f"console: {message.text} ({message.location.get('url', '')})")

    def hear_error(self, error: Any) -> None:
        self.heard.append(f"thrown: {error}")

    @property
    def left(self) -> list[str]:
        return [
            each for each in self.heard if not any(expected in each for expected in self.expected)
        ]


@dataclass(kw_only=True)
class Visit:
    """Somebody at the dashboard."""

    page: Page
    context: BrowserContext
    url: str
    faults: Faults

    async def open(self, path: str) -> Page:
        await self.page.goto(f"{self.url}{path}")
        return self.page


@dataclass(kw_only=True)
class Site:
    """A Rota that runs in `folder`: `platform` has its first key, `process` is its number."""

    url: str
    folder: Path
    platform: Caller
    process: int

    def caller(self, key: str) -> Caller:
        return Caller(session=self.platform.session, url=self.url, key=key)

    async def ends(self, run_id: str, *, attempt: int = 1) -> None:
        """Wait until this attempt of a run has ended it."""

        async def has_ended() -> bool:
            run = (await self.platform.get(f"/v1/runs/{run_id}")).json
            return run["end_time"] is not None and run["attempt_number"] >= attempt

        await until(has_ended)

    async def key(self, role: str, **given: Any) -> str:
        """A new key of this role."""
        body = {"name": f"a {role}", "role": role, **given}
        path = "/v1/keys" if role != "platform" else "/v1/tenants/1/keys"
        answer = await self.platform.post(path, body)
        assert answer.status == 201, answer.text
        return str(answer.json["key"])


@asynccontextmanager
async def visiting(
    browser: Browser, site: Site, *, key: str | None, viewport: dict[str, int] | None = None
) -> AsyncIterator[Visit]:
    """A fresh browser profile; logged in if there is a key. Fails if its page complained."""
    context = await browser.new_context(
        locale="en-US",
        timezone_id="Europe/Berlin",
        viewport=viewport or WIDE,  # type: ignore[arg-type] # a TypedDict of the same form
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE)
    faults = Faults()
    try:
        if key is not None:
            await log_in(context, site.url, key)
        page = await context.new_page()
        page.on("console", faults.hear_console)
        page.on("pageerror", faults.hear_error)
        yield Visit(page=page, context=context, url=site.url, faults=faults)
        assert faults.left == []
    finally:
        await context.close()


async def log_in(context: BrowserContext, url: str, key: str) -> None:
    answer = await context.request.post(
        f"{url}/ui/session",
        data=json.dumps({"key": key}),
        headers={"Content-Type": "application/json", "Origin": url},
    )
    assert answer.ok, await answer.text()


async def look(page: Page, name: str) -> None:
    """What every page must bear. The page stays as wide and as light as it was."""
    for theme in ("light", "dark"):
        await page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        for size, viewport in (("wide", WIDE), ("narrow", NARROW)):
            await page.set_viewport_size(viewport)  # type: ignore[arg-type]
            if (theme, size) in {("light", "wide"), ("dark", "narrow")}:
                await inspect(page, f"{name}, {theme} and {size}")
            image = f"{name}-{theme}-{size}.png"
            if RECORD and (IMAGES / image).exists():
                await page.screenshot(path=IMAGES / image)
            elif RECORD == "all":
                await page.screenshot(path=SCREENS / image)
    await page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    await page.emulate_media(color_scheme="light", reduced_motion="reduce")


async def inspect(page: Page, what: str) -> None:
    """Axe finds nothing serious, and nothing sticks out."""
    found = await violations(page)
    assert found == [], f"{what}: {found}"
    sticks_out = await page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert sticks_out <= 0, f"{what}: {sticks_out} pixels wider than the screen"


async def violations(page: Page) -> list[str]:
    """What axe finds that is serious. It is put in from outside, so the page's policy holds."""
    if not await page.evaluate("typeof axe === 'object'"):
        await page.evaluate(AXE.read_text(encoding="utf-8"))
    found = await page.evaluate(
        "axe.run(document, {resultTypes: ['violations']}).then(({violations}) => violations.map("
        "({id, impact, help, nodes}) => ({id, impact, help, nodes: nodes.map(n => n.html)})))"
    )
    return [
        f"{each['id']}: {each['help']}: {each['nodes'][:3]}"
        for each in found
        if each["impact"] in BAD
    ]
