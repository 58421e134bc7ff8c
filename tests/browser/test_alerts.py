"""The page of alerts: an incident opens, is acknowledged, silenced and resolved."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

from playwright.async_api import Page, expect
from tests.browser.conftest import Visiting
from tests.support.browsing import NARROW, REFUSED, Site, inspect, look
from tests.support.hook_receiver import HookReceiver
from tests.support.shop import until


@asynccontextmanager
async def open_incident(site: Site) -> AsyncIterator[dict[str, Any]]:
    """A run waits in a queue without a worker, which a rule forbids, so Rota opens an incident. The
    cause ends with the context.
    """
    queue = f"q{uuid4().hex[:8]}"
    rule = {"name": queue, "match": {"queue": queue}, "when": {"no_worker": "1s"}}
    made = await site.platform.post("/v1/expectations", rule)
    assert made.status == 201, made.text
    job = {"name": queue, "kind": "demo.greet", "queue": queue}
    submitted = await site.platform.post("/v1/jobs", job)
    assert submitted.status == 201, submitted.text

    async def find() -> dict[str, Any] | None:
        found = (await site.platform.get("/v1/incidents?state=open&limit=200")).json["data"]
        return next((each for each in found if each["subject"]["name"] == queue), None)

    try:
        yield await until(find)
    finally:
        await site.platform.post(f"/v1/runs/{submitted.json['run_id']}/cancel")
        await site.platform.delete(f"/v1/expectations/{made.json['expectation_id']}")


async def thread(page: Page) -> list[str]:
    card = page.locator(".card").filter(has=page.get_by_role("heading", name="Thread"))
    return await card.locator("li strong").all_inner_texts()


async def test_an_incident_is_acknowledged_noted_and_resolved(site: Site, visit: Visiting) -> None:
    async with open_incident(site) as incident:
        page = (await visit("/alerts")).page
        row = page.get_by_role("row").filter(
            has=page.locator(f"a[href='/alerts/{incident['incident_id']}']")
        )
        await expect(row).to_contain_text("No worker")
        await look(page, "alerts")

        await row.get_by_role("link").first.click()
        await expect(page.get_by_role("heading", name=incident["title"])).to_be_visible()
        await page.get_by_role("button", name="Acknowledge").click()
        await expect(page.get_by_role("button", name="Acknowledge")).to_have_count(0)
        await page.get_by_role("button", name="Add note").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Note").fill("<b>bad input</b> from the shop")
        await dialog.get_by_role("button", name="Add note").click()
        await expect(
            page.locator(".thread").get_by_text("<b>bad input</b> from the shop")
        ).to_be_visible()
        await look(page, "incident")
        await page.get_by_role("button", name="Resolve").click()
        await dialog.get_by_role("button", name="Resolve").click()

        await expect(page.locator(".badge").get_by_text("resolved")).to_be_visible()
        assert {"Opened", "Acknowledged", "Note", "Resolved"} <= set(await thread(page))
        await page.goto(f"{site.url}/alerts?state=resolved")
        await expect(page.get_by_role("link", name=incident["title"]).first).to_be_visible()


async def test_an_incident_is_silenced_until_a_time_and_the_silence_ends_early(
    site: Site, visit: Visiting
) -> None:
    async with open_incident(site) as incident:
        page = (await visit(f"/alerts/{incident['incident_id']}")).page

        await page.get_by_role("button", name="Silence").click()
        dialog = page.get_by_role("dialog")
        silence = dialog.get_by_role("button", name="Silence")
        await expect(silence).to_be_disabled()
        await dialog.get_by_label("End").select_option("until")
        await expect(dialog.get_by_label("Until")).to_be_visible()
        await dialog.get_by_label("End").select_option("20m")
        await dialog.get_by_label("Reason").fill("deployment of the shop")
        await look(page, "silence")
        await silence.click()

        await expect(page.get_by_text("no messages are sent; the checks go on")).to_be_visible()
        await page.goto(f"{site.url}/alerts?state=silenced")
        await expect(page.get_by_role("link", name=incident["title"]).first).to_be_visible()
        await page.get_by_role("link", name="Silences").click()
        row = page.get_by_role("row").filter(has_text="deployment of the shop").first
        await expect(row).to_contain_text("active")
        await look(page, "silences")
        await row.get_by_role("button", name=re.compile("^End silence")).click()
        await expect(row).to_contain_text("ended")


async def test_a_silence_without_an_incident_says_what_it_applies_to(visit: Visiting) -> None:
    page = (await visit("/alerts?tab=silences")).page
    reason = f"patch day {uuid4().hex[:6]}"

    await page.get_by_role("button", name="Create silence").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Job").fill("nothing like this*")
    await dialog.get_by_label("Label").fill("team:billing")
    await dialog.get_by_label("Reason").fill(reason)
    await dialog.get_by_role("button", name="Silence").click()

    row = page.get_by_role("row").filter(has_text=reason)
    await expect(row).to_contain_text("job nothing like this*, label team:billing")


async def test_a_channel_is_tested_and_its_messages_arrive(
    site: Site, receiver: HookReceiver, visit: Visiting
) -> None:
    page = (await visit("/alerts?tab=channels")).page
    row = page.get_by_role("row").filter(has_text="chat")
    await expect(row).to_contain_text("works")
    await look(page, "channels")
    before = len(receiver.at("/chat"))

    await row.get_by_role("button", name="Test chat").click()

    async def has_arrived() -> bool:
        return len(receiver.at("/chat")) > before

    await until(has_arrived)


async def test_rules_are_created_turned_off_and_deleted(visit: Visiting) -> None:
    name = f"rule {uuid4().hex[:6]}"
    visited = await visit("/alerts?tab=rules")
    page = visited.page
    # The first limit is no number.
    visited.faults.expect(REFUSED)
    await page.get_by_role("button", name="Create rule").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill(name)
    await dialog.get_by_label("Limit").fill("many")
    await dialog.get_by_label("Job").fill("demo*")
    await look(page, "rule")
    await dialog.get_by_role("button", name="Create rule").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("streak")
    await dialog.get_by_label("Limit").fill("5")
    await dialog.get_by_role("button", name="Create rule").click()

    row = page.get_by_role("row").filter(has_text=name)
    await expect(row).to_contain_text("Failures: streak 5")
    await look(page, "rules")

    await row.get_by_role("button", name=f"Actions for {name}").click()
    await page.get_by_role("menuitem", name="Disable").click()
    await expect(row).to_contain_text("disabled")
    await row.get_by_role("button", name=f"Actions for {name}").click()
    await page.get_by_role("menuitem", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete rule").click()
    await expect(row).to_have_count(0)


async def test_a_job_shows_what_is_expected_of_it(site: Site, visit: Visiting) -> None:
    name = f"nightly {uuid4().hex[:6]}"
    job = {
        "name": name,
        "kind": "demo.greet",
        "schedule": {"cron": "30 2 * * *", "timezone": "Europe/Berlin"},
        "expect": {"finish_by": "06:00", "succeed_every": "26h"},
    }
    made = await site.platform.post("/v1/jobs", job)
    assert made.status == 201, made.text
    page = (await visit(f"/jobs/{made.json['job_id']}")).page

    card = page.locator(".card").filter(has=page.get_by_role("heading", name="Expectations"))
    finish = card.get_by_role("listitem").filter(has_text="Finish by 06:00")
    await expect(finish).to_contain_text("met")
    await expect(finish).to_contain_text("next check in")
    await expect(card.get_by_role("listitem").filter(has_text="Succeed every")).to_be_visible()
    await look(page, "job-expectations")


async def test_expectations_are_part_of_the_form_of_a_job(site: Site, visit: Visiting) -> None:
    name = f"nightly {uuid4().hex[:6]}"
    schedule = {"cron": "30 2 * * *", "timezone": "Europe/Berlin"}
    expected = {"finish_by": "06:00", "failures": {"rate": "10%", "over": "1h"}}
    made = await site.platform.post(
        "/v1/jobs", {"name": name, "kind": "demo.greet", "schedule": schedule, "expect": expected}
    )
    job = f"/v1/jobs/{made.json['job_id']}"
    before = (await site.platform.get(job)).json["expect"]["failures"]
    visited = await visit(f"/jobs/{made.json['job_id']}/edit")
    page = visited.page
    # At first the newest success would have to be newer than the schedule allows.
    visited.faults.expect(REFUSED)
    await expect(page.get_by_label("Finish by")).to_have_value("06:00")
    await page.get_by_label("Succeed every").fill("2h")
    await page.get_by_label("Failures in a row").fill("2")
    await page.get_by_label("Report to").fill("chat")
    await look(page, "job-form-expectations")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert").first).to_be_visible()
    await page.get_by_label("Succeed every").fill("26h")
    await page.get_by_role("button", name="Save").click()

    await expect(page).to_have_url(re.compile(rf"/jobs/{made.json['job_id']}$"))
    stored = (await site.platform.get(job)).json
    # What the form does not show stays as it is.
    assert stored["expect"]["failures"] == {**before, "streak": 2}
    assert stored["expect"]["succeed_every"] == "P1DT2H"
    assert stored["alert"]["to"] == "chat"


async def test_a_ping_is_created_with_a_url_that_reports(site: Site, visit: Visiting) -> None:
    name = f"backup {uuid4().hex[:6]}"
    page = (await visit("/alerts?tab=pings")).page
    await page.get_by_role("button", name="Create ping").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill(name)
    await dialog.get_by_label("Expected").fill("30 2 * * *")
    await dialog.get_by_role("button", name="Create ping").click()
    url = await dialog.locator("code").first.inner_text()
    await dialog.get_by_role("button", name="Done").click()
    row = page.get_by_role("row").filter(has_text=name)
    await expect(row).to_contain_text("no signal yet")

    async with site.platform.session.get(url) as answer:
        assert answer.status == 200

    await expect(row).to_contain_text("up")
    await look(page, "pings")
    await row.get_by_role("button", name=f"Actions for {name}").click()
    await page.get_by_role("menuitem", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete ping").click()
    await expect(row).to_have_count(0)


async def test_a_viewer_reads_alerts_and_finds_no_buttons_to_change_them(
    site: Site, visit: Visiting
) -> None:
    async with open_incident(site) as incident:
        page = (await visit("/alerts", role="viewer", viewport=NARROW)).page

        await page.get_by_role("link", name=incident["title"]).first.click()
        await expect(page.get_by_role("heading", name=incident["title"])).to_be_visible()
        for action in ("Acknowledge", "Add note", "Silence", "Resolve"):
            await expect(page.get_by_role("button", name=action, exact=True)).to_have_count(0)
        for tab in ("silences", "rules", "channels", "pings"):
            await page.goto(f"{site.url}/alerts?tab={tab}")
            await expect(
                page.get_by_role("table").or_(page.locator(".empty")).first
            ).to_be_visible()
            buttons = page.locator("main").get_by_role(
                "button", name=re.compile("Test|End|Create|Actions")
            )
            await expect(buttons).to_have_count(0)


async def test_the_pages_fit_screens_of_every_size(site: Site, visit: Visiting) -> None:
    async with open_incident(site) as incident:
        page = (await visit("/")).page

        for path in ("/", "/alerts", f"/alerts/{incident['incident_id']}", "/webhooks"):
            await page.goto(f"{site.url}{path}")
            await expect(page.get_by_role("heading", level=1)).to_be_visible()
            for theme, width in (("light", 1440), ("dark", 1024), ("light", 390)):
                await page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
                await page.set_viewport_size({"width": width, "height": 844})
                await inspect(page, f"{path} at {width} pixels")
