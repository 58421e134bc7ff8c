"""The overview, and the frame around every page: keys, palette, colours, narrow screens."""

import re

from playwright.async_api import expect
from tests.browser.conftest import Visiting
from tests.support.browsing import NARROW, REFUSED, Site, look

# Bytes over the wire, gzipped: the limit, and what we aim at for scripts.
FIRST_VIEW = 300_000
SCRIPTS = 130_000


async def fail_report(site: Site, pages: str) -> None:
    """A run that fails for good; its error tells `pages`."""
    job = {"kind": "demo.report", "max_retries": 0, "payload": {"pages": pages}}
    made = await site.platform.post("/v1/jobs", {"name": f"report {pages}", **job})
    await site.ends(made.json["run_id"])


async def test_the_overview_shows_how_it_goes_and_what_needs_somebody(
    site: Site, visit: Visiting
) -> None:
    await fail_report(site, "for the overview")
    page = (await visit("/")).page

    for figure in ("Runs per second", "Lag, median", "Lag, 99 %", "Failure rate", "Waiting"):
        await expect(page.get_by_text(figure, exact=True)).to_be_visible()
    await expect(page.get_by_role("img", name="Runs that ended, by outcome")).to_be_visible()
    lag = page.locator(".card").filter(has=page.get_by_role("heading", name="Lag"))
    await expect(lag.locator(".chart-legend")).to_have_text("99 %median")
    await expect(page.get_by_text("1 scheduler holds all 128 shards.")).to_be_visible()
    await expect(page.get_by_text(re.compile(r"It answered in \d+ ms"))).to_be_visible()
    failing = page.get_by_role("listitem").filter(has_text="'for the overview'")
    await expect(failing).to_contain_text("ValueError: invalid literal")
    await look(page, "overview")

    await failing.get_by_role("link", name="demo.report").click()
    await expect(page).to_have_url(re.compile(r"/dead-letters\?group=[0-9a-f]{16}\.demo\.report$"))
    await expect(page.get_by_role("heading", name="ValueError")).to_be_visible()


async def test_a_failure_appears_on_the_overview_by_itself(site: Site, visit: Visiting) -> None:
    page = (await visit("/")).page
    await expect(page.get_by_text("Live", exact=True)).to_be_visible()

    await fail_report(site, "while one looks")

    await expect(page.get_by_role("link", name="'while one looks'")).to_be_visible()


async def test_the_time_span_is_in_the_url_and_its_charts_are_read_by_keys(
    visit: Visiting,
) -> None:
    page = (await visit("/")).page
    await page.get_by_role("button", name="Last day").click()
    await expect(page).to_have_url(re.compile(r"\?span=day$"))
    await page.reload()
    chosen = page.get_by_role("button", name="Last day")
    await expect(chosen).to_have_attribute("aria-pressed", "true")

    await page.get_by_role("img", name="Runs that ended, by outcome").focus()
    await page.keyboard.press("ArrowLeft")

    told = page.get_by_role("status").filter(has_text=re.compile(r"\d+ succeeded, \d+ not run"))
    await expect(told).to_be_visible()


async def test_the_palette_finds_pages_and_jobs_and_leads_there(visit: Visiting) -> None:
    page = (await visit("/")).page
    await expect(page.get_by_role("heading", name="Overview")).to_be_visible()

    await page.keyboard.press("Control+k")
    await page.keyboard.type("heartb")
    await expect(page.get_by_role("option", name=re.compile("demo: heartbeat"))).to_be_visible()
    await page.keyboard.press("Enter")

    await expect(page.get_by_role("heading", name="demo: heartbeat")).to_be_visible()
    await page.keyboard.press("Control+k")
    await page.keyboard.type("queu")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile(r"/queues$"))


async def test_pages_are_reached_by_two_keys_and_a_question_mark_says_which(
    visit: Visiting,
) -> None:
    page = (await visit("/")).page
    await expect(page.get_by_role("heading", name="Overview")).to_be_visible()

    await page.keyboard.press("g")
    await page.keyboard.press("j")
    await expect(page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible()
    await page.keyboard.press("?")

    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("Dead letters")
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)


async def test_the_colours_stay_as_they_were_chosen(visit: Visiting) -> None:
    page = (await visit("/")).page
    light = await page.evaluate("getComputedStyle(document.body).backgroundColor")

    await page.get_by_role("button", name="Colours: system").click()
    await page.get_by_role("button", name="Colours: light").click()
    await page.reload()

    await expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    assert await page.evaluate("getComputedStyle(document.body).backgroundColor") != light


async def test_a_narrow_screen_has_its_navigation_behind_a_button(visit: Visiting) -> None:
    page = (await visit("/", viewport=NARROW)).page
    await expect(page.get_by_role("link", name="Workers", exact=True).first).to_be_hidden()

    await page.get_by_role("button", name="Navigation").click()
    await page.get_by_role("navigation").get_by_role("link", name="Queues").click()

    await expect(page.get_by_role("heading", name="Queues")).to_be_visible()
    await expect(page.get_by_role("navigation", name="Pages")).to_be_hidden()


async def test_a_path_that_is_no_page_says_so(visit: Visiting) -> None:
    page = (await visit("/no/such/page")).page

    await expect(page.get_by_text("There is no such page.")).to_be_visible()
    await page.get_by_role("link", name="To the overview").click()
    await expect(page.get_by_role("heading", name="Overview")).to_be_visible()


async def test_the_first_view_is_small(visit: Visiting) -> None:
    page = (await visit("/")).page
    await expect(page.get_by_role("img", name="Runs that ended, by outcome")).to_be_visible()

    loaded = await page.evaluate(
        """performance.getEntriesByType("resource")
            .filter(({name}) => /\\.(js|css|svg)$/.test(name))
            .map(({name, transferSize}) => [name, transferSize])"""
    )

    assert loaded
    assert sum(size for _, size in loaded) <= FIRST_VIEW
    assert sum(size for name, size in loaded if name.endswith(".js")) <= SCRIPTS


async def test_a_server_that_is_away_is_told_in_a_sentence_and_asked_again(
    visit: Visiting,
) -> None:
    visitor = await visit("/jobs")
    page = visitor.page
    await expect(page.get_by_role("row").nth(1)).to_be_visible()
    for expected in (REFUSED, "ERR_FAILED"):
        visitor.faults.expect(expected)

    aborted = "**/ui/v1/queues*"
    await visitor.context.route(aborted, lambda route: route.abort())
    await page.keyboard.press("g")
    await page.keyboard.press("q")

    alert = page.get_by_role("alert").first
    await expect(alert).to_contain_text("The API cannot be reached")
    # The page also asks again by itself, so the button is pressed while no answer can come.
    async with page.expect_request(aborted):
        await alert.get_by_role("button", name="Try again").click()
    await visitor.context.unroute(aborted)
    await expect(page.get_by_role("row").nth(1)).to_be_visible()
