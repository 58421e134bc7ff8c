"""The pages of webhooks: create, see deliveries, send again, disable, enable."""

import re
from uuid import uuid4

from playwright.async_api import Page, expect
from tests.browser.conftest import Visiting
from tests.support.browsing import REFUSED, Site, look
from tests.support.hook_receiver import HookReceiver
from tests.support.shop import until


async def create_webhook(site: Site, receiver: HookReceiver, **given: object) -> tuple[str, str]:
    """A webhook of this test alone: its id and its path at the receiver."""
    path = f"/{uuid4().hex[:8]}"
    body = {
        "name": f"hook {path[1:]}",
        "url": f"{receiver.url}{path}",
        "events": ["backfill.ended"],
        "allow_http": True,
        **given,
    }
    made = await site.platform.post("/v1/webhooks", body)
    assert made.status == 201, made.text
    return str(made.json["webhook_id"]), path


async def received(receiver: HookReceiver, path: str, number: int) -> None:
    async def has_arrived() -> bool:
        return len(receiver.at(path)) >= number

    await until(has_arrived)


async def open_delivery(page: Page) -> None:
    table = page.get_by_role("table", name="Deliveries")
    await table.get_by_role("button").first.click()
    await expect(page.get_by_role("dialog")).to_be_visible()


async def test_a_webhook_is_created_and_its_secret_is_shown_once(
    receiver: HookReceiver, visit: Visiting
) -> None:
    visited = await visit("/webhooks")
    page = visited.page
    # The first attempt names an unknown event.
    visited.faults.expect(REFUSED)
    await expect(page.get_by_role("heading", name="Webhooks", exact=True)).to_be_visible()
    name = f"orders {uuid4().hex[:6]}"

    await page.get_by_role("button", name="Create webhook").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("URL").first.fill(f"{receiver.url}/orders")
    await dialog.get_by_label("Events").fill("run.faild")
    await dialog.get_by_label("Name").fill(name)
    await dialog.get_by_label("Allow a URL without TLS").check()
    await dialog.get_by_role("button", name="Create webhook").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("run.failed")
    await dialog.get_by_label("Events").fill("run.failed, incident.*")
    await dialog.get_by_role("button", name="Create webhook").click()

    await expect(dialog.locator("code")).to_contain_text("whsec_")
    await dialog.get_by_role("button", name="Done").click()
    await expect(page.get_by_role("heading", name=name)).to_be_visible()
    await expect(page.get_by_text("No deliveries yet").first).to_be_visible()


async def test_a_delivery_shows_its_request_and_answer_and_is_sent_again(
    site: Site, receiver: HookReceiver, visit: Visiting
) -> None:
    webhook_id, path = await create_webhook(site, receiver)
    page = (await visit(f"/webhooks/{webhook_id}")).page

    await page.get_by_role("button", name="Send test event").click()
    await received(receiver, path, 1)
    strip = page.get_by_role("list", name="Deliveries, oldest first")
    await expect(strip.get_by_role("link")).to_have_count(1)
    await expect(page.get_by_text("1 delivered")).to_be_visible()
    await look(page, "webhook")
    await strip.get_by_role("link").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_label("Answer")).to_contain_text("answered 200")
    await expect(dialog.get_by_label("Request", exact=True).first).to_contain_text('"timestamp"')
    await look(page, "webhook-delivery")
    await dialog.get_by_role("button", name="Send again").click()

    await received(receiver, path, 2)
    first, second = receiver.at(path)
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    await expect(dialog.get_by_label("Attempts").get_by_role("listitem")).to_have_count(2)


async def test_a_failing_endpoint_says_so_and_is_disabled_and_enabled(
    site: Site, receiver: HookReceiver, visit: Visiting
) -> None:
    webhook_id, path = await create_webhook(site, receiver)
    receiver.statuses[path] = 503
    page = (await visit(f"/webhooks/{webhook_id}")).page

    await page.get_by_role("button", name="Send test event").click()
    await received(receiver, path, 1)
    await expect(page.get_by_text(re.compile(r"\d failed attempts? in a row"))).to_be_visible()
    await page.get_by_role("button", name="More", exact=True).click()
    await page.get_by_role("menuitem", name="Disable").click()
    await expect(page.get_by_text("Disabled by a user. 1 delivery held.")).to_be_visible()

    receiver.statuses[path] = 200
    await page.get_by_role("button", name="Enable", exact=True).click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_text("1 delivery is held")).to_be_visible()
    await dialog.get_by_role("button", name="Enable", exact=True).click()

    await expect(dialog).to_have_count(0)
    await received(receiver, path, 2)
    await expect(page.get_by_text("1 delivered")).to_be_visible()


async def test_a_viewer_sees_deliveries_and_cannot_change_anything(
    site: Site, receiver: HookReceiver, visit: Visiting
) -> None:
    webhook_id, path = await create_webhook(site, receiver)
    await site.platform.post(f"/v1/webhooks/{webhook_id}/test")
    await received(receiver, path, 1)
    page = (await visit(f"/webhooks/{webhook_id}", role="viewer")).page

    await open_delivery(page)
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_label("Request", exact=True).first).to_be_visible()
    await expect(dialog.get_by_role("button", name="Send again")).to_have_count(0)
    await dialog.get_by_role("button", name="Close").last.click()
    for action in ("Send test event", "More", "Enable"):
        await expect(page.get_by_role("button", name=action, exact=True)).to_have_count(0)
    await page.get_by_role("link", name="Webhooks").first.click()
    await expect(page.get_by_role("table", name="Webhooks")).to_contain_text(path[1:])
    await expect(page.get_by_role("button", name="Create webhook")).to_have_count(0)
    await look(page, "webhooks")
