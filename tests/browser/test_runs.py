"""The run list and the run page: reason, attempts, result and log (I2, E14)."""

import asyncio
import re

from playwright.async_api import Route, expect
from tests.browser.conftest import Visiting
from tests.support.browsing import Site, look

LINES = 100_000


async def submitted(site: Site, name: str, **job: object) -> str:
    made = await site.platform.post("/v1/jobs", {"name": name, **job})
    assert made.status == 201, made.text
    return str(made.json["run_id"])


async def test_a_run_appears_in_the_list_live_and_the_url_keeps_the_filters(
    site: Site, visit: Visiting
) -> None:
    page = (await visit("/runs")).page
    await expect(page.get_by_role("table", name="Runs")).to_be_visible()

    await submitted(site, "a run to watch", kind="demo.hopeless", max_retries=0)

    row = page.get_by_role("row").filter(has_text="a run to watch")
    await expect(row).to_contain_text("dead")
    await expect(row).to_contain_text("customer 4711 does not exist")
    await page.get_by_role("button", name="Succeeded").click()
    await expect(page).to_have_url(re.compile("status=succeeded"))
    await expect(row).to_be_hidden()
    await page.get_by_label("Kind").select_option("demo.heartbeat")
    await page.reload()
    await expect(page.get_by_role("button", name="Succeeded")).to_have_attribute(
        "aria-pressed", "true"
    )
    await expect(page.get_by_label("Kind")).to_have_value("demo.heartbeat")
    await page.goto(f"{site.url}/runs")
    await look(page, "runs")


async def test_the_run_page_shows_attempts_result_and_log(site: Site, visit: Visiting) -> None:
    run_id = await submitted(site, "a report to read", kind="demo.report", payload={"pages": 2})
    page = (await visit(f"/runs/{run_id}")).page

    await expect(page.get_by_role("log")).to_contain_text("wrote page 2")
    await expect(page.get_by_label("Result", exact=True)).to_contain_text("2")
    await expect(page.get_by_label("Payload", exact=True)).to_contain_text('"pages": 2')
    await expect(page.locator(".attempt").get_by_text("Attempt 1")).to_be_visible()
    await expect(page.get_by_role("img", name=re.compile("attempt 1 succeeded"))).to_be_visible()
    await page.get_by_label("Search the log").fill("page 1")
    await expect(page.get_by_role("log")).not_to_contain_text("page 2")
    await page.get_by_label("Search the log").fill("")
    await look(page, "run")


async def test_a_waiting_run_explains_why_in_a_sentence(site: Site, visit: Visiting) -> None:
    run_id = await submitted(site, "no worker can run this", kind="unheard of")

    page = (await visit(f"/runs/{run_id}")).page

    await expect(page.locator(".page-head")).to_contain_text("queued")
    await expect(page.locator(".page-head")).to_contain_text("unheard of")
    await look(page, "run-waiting")


async def test_a_running_run_is_cancelled_with_a_reason(site: Site, visit: Visiting) -> None:
    run_id = await submitted(site, "long report", kind="demo.report", payload={"pages": 500})
    page = (await visit(f"/runs/{run_id}")).page
    await expect(page.get_by_role("progressbar", name="Progress")).to_be_visible()

    await page.get_by_role("button", name="Cancel run").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Reason (optional)").fill("not needed any more")
    await dialog.get_by_role("button", name="Cancel run").click()

    await expect(page.locator(".page-head .badge")).to_have_text("cancelled")
    audit = (await site.platform.get(f"/v1/audit?thing=run&thing_id={run_id}")).json
    assert [entry["action"] for entry in audit["data"]] == ["run.cancel"]


async def test_a_dead_run_is_retried_under_its_id_or_replayed_with_a_different_payload(
    site: Site, visit: Visiting
) -> None:
    given = {"kind": "demo.hopeless", "max_retries": 0, "payload": {"a": 1}}
    run_id = await submitted(site, "to be tried again", **given)
    await site.ends(run_id)
    page = (await visit(f"/runs/{run_id}")).page

    await page.get_by_role("button", name="Retry", exact=True).click()
    await page.get_by_role("dialog").get_by_role("button", name="Retry").click()
    await expect(page.locator(".attempt").get_by_text("Attempt 2")).to_be_visible()
    await site.ends(run_id, attempt=2)
    await page.get_by_role("button", name="Replay").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Payload").fill("{")
    await expect(dialog.get_by_role("button", name="Replay")).to_be_disabled()
    await dialog.get_by_label("Payload").fill('{"a": 2}')
    await dialog.get_by_role("button", name="Replay").click()

    await expect(page).not_to_have_url(re.compile(run_id))
    await expect(page.get_by_label("Payload", exact=True)).to_contain_text('"a": 2')


async def test_typed_json_stays_when_the_payload_schema_arrives_later(
    site: Site, visit: Visiting
) -> None:
    given = {"kind": "demo.hopeless", "max_retries": 0, "payload": {"a": 1}}
    run_id = await submitted(site, "to be typed", **given)
    await site.ends(run_id)
    visitor = await visit(f"/runs/{run_id}")
    page, known = visitor.page, asyncio.Event()

    async def late(route: Route) -> None:
        await known.wait()
        await route.continue_()

    await visitor.context.route("**/ui/v1/kinds*", late)
    await page.get_by_role("button", name="Replay").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Payload").fill('{"a": 2}')
    async with page.expect_response("**/ui/v1/kinds*"):
        known.set()
    await dialog.get_by_role("button", name="Replay").click()

    await expect(page).not_to_have_url(re.compile(run_id))
    await expect(page.get_by_label("Payload", exact=True)).to_contain_text('"a": 2')


async def test_a_hundred_thousand_lines_are_searched_and_few_are_rendered(
    site: Site, visit: Visiting
) -> None:
    begun = await site.platform.post("/v1/runs/external", {"job": "talkative", "host": "here"})
    run_id = begun.json["run_id"]
    each = LINES // 50
    pieces = [
        {"seq": n, "text": "".join(f"l{n * each + m}\n" for m in range(each))} for n in range(50)
    ]
    ended = {"output": pieces, "exit_code": 0}
    assert (await site.platform.post(f"/v1/runs/{run_id}/external/end", ended)).status == 200
    page = (await visit(f"/runs/{run_id}")).page

    await expect(page.get_by_text("100,000 lines")).to_be_visible()
    await page.get_by_label("Search the log").fill("l99999")

    await expect(page.get_by_text("1 line of")).to_be_visible()
    await expect(page.get_by_role("log")).to_contain_text("l99999")
    await page.get_by_label("Search the log").fill("")
    await expect(page.get_by_text("100,000 lines")).to_be_visible()
    assert await page.locator(".log-line").count() < 200


async def test_a_viewer_has_no_actions_on_a_run(site: Site, visit: Visiting) -> None:
    run_id = await submitted(site, "only to look at", kind="demo.hopeless", max_retries=0)
    await site.ends(run_id)

    page = (await visit(f"/runs/{run_id}", role="viewer")).page

    await expect(page.locator(".attempt").get_by_text("Attempt 1")).to_be_visible()
    await expect(page.get_by_role("button", name="Retry")).to_have_count(0)
    await expect(page.get_by_role("button", name="Replay")).to_have_count(0)


async def test_an_unknown_run_shows_run_not_found(visit: Visiting) -> None:
    visitor = await visit("/")
    visitor.faults.expect("Failed to load resource")

    page = await visitor.open(f"/runs/run_{'0' * 32}")

    await expect(page.get_by_text("Run not found")).to_be_visible()


async def test_a_failed_run_shows_the_own_frames_first_and_its_message_once(
    site: Site, visit: Visiting
) -> None:
    given = {"kind": "demo.report", "max_retries": 0, "payload": {"pages": "two"}}
    run_id = await submitted(site, "a report that fails", **given)
    await site.ends(run_id)
    page = (await visit(f"/runs/{run_id}")).page

    traceback = page.get_by_role("group", name="Traceback")
    own = traceback.locator(".frame").first
    await expect(own).to_contain_text("handlers.py")
    await expect(own).to_contain_text("in report")
    await expect(own).to_contain_text('pages = int(payload["pages"])')
    await expect(own).to_have_class(re.compile("frame-own"))
    folded = traceback.locator("details .frame").filter(has_text="executor.py").first
    await expect(folded).to_be_hidden()
    await traceback.get_by_text(re.compile("from Rota and libraries")).click()
    await expect(folded).to_be_visible()
    message = page.get_by_text("invalid literal for int()")
    above = page.locator(".error-message")
    await expect(above).to_contain_text("ValueError: invalid literal for int()")
    # Once above, and once at the end of the log.
    await expect(message).to_have_count(2)

    await page.get_by_label("Level").select_option("error")
    await expect(page.get_by_role("log")).to_contain_text("Traceback (most recent call last):")
    await expect(page.get_by_role("log")).to_contain_text("ValueError: invalid literal")
    await look(page, "run-failed")
