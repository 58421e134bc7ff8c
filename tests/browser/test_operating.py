"""Pages for operators: dead letters, queues, workers, tenants, keys, secrets, audit (I2)."""

import asyncio
import re
import subprocess
from uuid import uuid4

from playwright.async_api import Page, expect
from tests.browser.conftest import Visiting
from tests.support.browsing import Site, look
from tests.support.installation import ROTA, clean


async def dead_run(site: Site, pages: str) -> str:
    """Creates a dead letter of a new job, whose error contains `pages`."""
    job = {"kind": "demo.report", "max_retries": 0, "payload": {"pages": pages, "customer": 4711}}
    made = await site.platform.post("/v1/jobs", {"name": f"report {uuid4().hex}", **job})
    assert made.status == 201, made.text
    run_id = str(made.json["run_id"])
    await site.ends(run_id)
    return run_id


async def visit_letters(visit: Visiting, search: str) -> Page:
    visitor = await visit(f"/dead-letters?q={search}")
    # A group without dead letters is not found.
    visitor.faults.expect("404")
    return visitor.page


async def open_group(page: Page, message: str) -> None:
    row = page.get_by_role("row").filter(has_text=message)
    await row.get_by_role("link").first.click()
    await expect(page.get_by_role("heading", name="Newest run")).to_be_visible()


async def test_dead_letters_of_many_jobs_are_one_group_and_requeued_at_a_pace(
    site: Site, visit: Visiting
) -> None:
    runs = [await dead_run(site, "letters") for _ in range(2)]
    await dead_run(site, "letters of others")
    page = await visit_letters(visit, "")
    await page.get_by_label("Search by task, job or error").fill("'letters'")
    row = page.get_by_role("row").filter(has_text="'letters'")
    await expect(row).to_contain_text("demo.report")
    await expect(row.get_by_role("img", name="Failures per hour")).to_be_visible()
    await expect(page).to_have_url(re.compile("q=.*letters"))
    await look(page, "dead-letters")

    await open_group(page, "'letters'")
    await expect(page.get_by_label("payload", exact=True)).to_contain_text("4711")
    await expect(page.get_by_label("Traceback")).to_contain_text("handlers.py")
    await expect(page.get_by_text("rota.processes.demo.handlers:report").first).to_be_visible()
    await expect(page.get_by_role("table").get_by_role("row")).to_have_count(len(runs) + 1)
    await look(page, "dead-letter-group")
    await page.reload()
    await page.get_by_role("button", name="Requeue 2 runs").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("2 dead letters of demo.report")
    await dialog.get_by_label("Pace").select_option("60")
    await dialog.get_by_role("button", name="Requeue 2 runs").click()

    await expect(page.get_by_role("status").filter(has_text="Requeued 2 runs")).to_be_visible()
    for run_id in runs:
        await site.ends(run_id, attempt=2)


async def test_a_group_is_requeued_with_a_changed_payload(site: Site, visit: Visiting) -> None:
    runs = [await dead_run(site, "many pages") for _ in range(2)]
    page = await visit_letters(visit, "many pages")
    await open_group(page, "'many pages'")

    await page.get_by_role("button", name="Edit and requeue").click()
    dialog = page.get_by_role("dialog")
    act = dialog.get_by_role("button", name="Edit and requeue 2 runs")
    await dialog.get_by_label("Changes to each payload").fill('{"pages": ')
    await expect(act).to_be_disabled()
    await dialog.get_by_label("Changes to each payload").fill('{"pages": 1}')
    changed = dialog.get_by_label("changed payload", exact=True)
    await expect(changed).to_contain_text("4711")
    await expect(changed).to_contain_text("1")
    await act.click()

    await expect(page.get_by_text("No dead letters in this group")).to_be_visible()
    listed = (await site.platform.get("/v1/runs?kind=demo.report&limit=50")).json["data"]
    made = [each["run_id"] for each in listed if each["trigger"] == "replay"]
    told = [(await site.platform.get(f"/v1/runs/{run_id}")).json for run_id in made]
    assert [run["payload"] for run in told if run["payload"]["pages"] == 1] == [
        {"pages": 1, "customer": 4711}
    ] * 2
    for run_id in runs:
        dead = (await site.platform.get(f"/v1/runs/{run_id}")).json
        assert (dead["status"], dead["payload"]["pages"]) == ("dead", "many pages")


async def test_a_group_is_dropped_after_a_confirmation_and_others_stay(
    site: Site, visit: Visiting
) -> None:
    await dead_run(site, "to drop")
    kept = await dead_run(site, "to drop not")
    page = await visit_letters(visit, "'to drop'")
    await open_group(page, "'to drop'")

    await page.get_by_role("button", name="Drop 1 run").click()
    await page.get_by_role("dialog").get_by_role("button", name="Drop 1 run").click()

    await expect(page.get_by_text("No dead letters in this group")).to_be_visible()
    await page.get_by_role("link", name="Back to list").click()
    await expect(page.get_by_text("No matches")).to_be_visible()
    left = (await site.platform.get("/v1/dead-letters?kind=demo.report&limit=200")).json["data"]
    assert kept in {each["run_id"] for each in left}


async def test_a_queue_is_paused_limited_and_resumed(site: Site, visit: Visiting) -> None:
    await site.platform.post("/v1/jobs", {"name": "in a slow queue", "queue": "slow-lane"})
    page = (await visit("/queues")).page
    row = page.get_by_role("row").filter(has_text="slow-lane")
    await expect(row).to_contain_text("active")
    await look(page, "queues")

    await choose(page, "Actions for slow-lane", "Pause")
    await page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    await expect(row).to_contain_text("paused")
    await choose(page, "Actions for slow-lane", "Edit limits")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Max concurrent runs").fill("many")
    await expect(dialog).to_contain_text("Must be a whole number from 1 to 10000")
    await dialog.get_by_label("Max concurrent runs").fill("7")
    await dialog.get_by_label("Max starts").fill("100")
    await dialog.get_by_role("button", name="Save").click()
    await expect(row.get_by_role("meter")).to_have_attribute("aria-valuemax", "7")
    await expect(row).to_contain_text("100 per 1m")
    await choose(page, "Actions for slow-lane", "Resume")

    await expect(row).to_contain_text("active")
    found = (await site.platform.get("/v1/queues")).json["data"]
    queue = next(each for each in found if each["name"] == "slow-lane")
    assert (queue["is_paused"], queue["max"], queue["rate"]["count"]) == (False, 7, 100)


async def test_an_admin_creates_a_queue_and_pauses_it_for_the_own_tenant(
    site: Site, visit: Visiting
) -> None:
    page = (await visit("/queues", role="admin")).page

    await page.get_by_role("button", name="Create queue").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Reports!")
    await expect(dialog.get_by_role("button", name="Create queue")).to_be_disabled()
    await dialog.get_by_label("Name").fill("reports")
    await dialog.get_by_role("button", name="Create queue").click()
    row = page.get_by_role("row").filter(has_text="reports")
    await expect(row).to_contain_text("active")
    await choose(page, "Actions for reports", "Pause")
    await expect(page.get_by_role("dialog")).not_to_contain_text("for any tenant")
    await page.get_by_role("dialog").get_by_role("button", name="Pause").click()

    await expect(row).to_contain_text("paused")
    found = (await site.platform.get("/v1/queues")).json["data"]
    queue = next(each for each in found if each["name"] == "reports")
    assert queue["is_paused"] is False


async def test_workers_show_what_they_run_and_one_is_drained(site: Site, visit: Visiting) -> None:
    worker = subprocess.Popen(  # noqa: ASYNC220 — it is only waited for
        [ROTA, "worker", "rota.processes.demo.handlers:handlers"],
        cwd=site.folder,
        env=clean(ROTA_WORKER__QUEUES="spare"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        page = (await visit("/workers")).page
        row = page.get_by_role("row").filter(has_text=f":{worker.pid}")
        await expect(row).to_contain_text("active", timeout=30_000)
        await expect(
            page.get_by_role("row").filter(has_text=f":{site.process}").first
        ).to_be_visible()
        await expect(page.get_by_role("img", name=re.compile("128 of 128 shards"))).to_be_visible()
        await look(page, "workers")
        await row.get_by_role("button").first.click()
        await expect(page.get_by_role("dialog")).to_contain_text("No active runs of your tenant")
        await expect(page).to_have_url(re.compile("worker=wrk_"))
        await page.keyboard.press("Escape")

        await row.get_by_role("button", name="Drain").click()
        await page.get_by_role("dialog").get_by_role("button", name="Drain").click()

        await expect(row.get_by_role("button", name="Drain")).to_have_count(0)
        assert await asyncio.to_thread(worker.wait, 30) == 0
    finally:
        worker.kill()


async def test_a_tenant_is_created_paused_and_resumed_and_gets_a_key(
    site: Site, visit: Visiting
) -> None:
    page = (await visit("/tenants")).page
    await expect(page.get_by_role("row", name="default active")).to_be_visible()
    await page.get_by_role("button", name="Create tenant").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name", exact=True).fill("acme")
    await dialog.get_by_label("Jobs").fill("100")
    await dialog.get_by_role("button", name="Create tenant").click()
    row = page.get_by_role("row").filter(has_text="acme")
    await expect(row).to_contain_text("jobs 100")
    await look(page, "tenants")

    await choose(page, "Actions for acme", "Create key")
    await dialog.get_by_label("Name").fill("for acme")
    await dialog.get_by_role("button", name="Create key").click()
    key = await dialog.locator("[data-key]").inner_text()
    await dialog.get_by_role("button", name="Done").click()
    await choose(page, "Actions for acme", "Pause")
    await dialog.get_by_role("button", name="Pause").click()
    await expect(row).to_contain_text("paused")
    await choose(page, "Actions for acme", "Resume")
    await expect(row).to_contain_text("active")

    who = await site.caller(key).get("/v1/whoami")
    assert (who.json["tenant"], who.json["role"]) == ("acme", "admin")


async def choose(page: Page, menu: str, item: str) -> None:
    await page.get_by_role("button", name=menu).click()
    await page.get_by_role("menuitem", name=item).click()


async def test_a_key_is_shown_once_and_revoked(site: Site, visit: Visiting) -> None:
    page = (await visit("/keys")).page
    await page.get_by_role("button", name="Create key").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("deployment of tests")
    await dialog.get_by_label("Role").select_option("viewer")
    await dialog.get_by_role("button", name="Create key").click()
    key = await dialog.locator("[data-key]").inner_text()
    await dialog.get_by_role("button", name="Done").click()
    row = page.get_by_role("row").filter(has_text="deployment of tests")
    await expect(row).to_contain_text("viewer")
    await look(page, "keys")

    assert key not in await page.content()
    assert (await site.caller(key).get("/v1/whoami")).json["role"] == "viewer"
    await row.get_by_role("button", name="Revoke").click()
    await dialog.get_by_role("button", name="Revoke").click()
    await expect(row).to_have_count(0)
    await page.get_by_label("Show expired and revoked").check()
    await expect(row).to_contain_text("revoked")
    await expect(page).to_have_url(re.compile("ended=yes"))


async def test_a_secret_is_saved_and_never_shown(visit: Visiting) -> None:
    page = (await visit("/secrets")).page
    await page.get_by_role("button", name="Create secret").first.click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("smtp-password")
    await dialog.get_by_label("Value").fill("hunter2-is-not-safe")
    await dialog.get_by_role("button", name="Save").click()
    row = page.get_by_role("row").filter(has_text="smtp-password")
    await expect(row).to_contain_text("1")
    await look(page, "secrets")

    await row.get_by_role("button", name="Replace").click()
    await expect(dialog.get_by_label("Value")).to_have_value("")
    await dialog.get_by_label("Value").fill("another")
    await dialog.get_by_role("button", name="Save").click()
    await expect(row).to_contain_text("2")
    assert "hunter2" not in await page.content()
    await row.get_by_role("button", name="Delete").click()
    await dialog.get_by_role("button", name="Delete").click()
    await expect(row).to_have_count(0)


async def test_the_audit_log_is_filtered_by_its_url(site: Site, visit: Visiting) -> None:
    made = await site.platform.post("/v1/jobs", {"name": "noted", "schedule": {"every": "1h"}})
    job_id = made.json["job_id"]
    page = (await visit(f"/audit?thing_id={job_id}")).page
    table = page.get_by_role("table", name="Changes")
    await expect(table.get_by_role("row")).to_have_count(2)
    await look(page, "audit")

    await table.get_by_role("button", name=re.compile("Details")).click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_label("after", exact=True)).to_contain_text("noted")
    await expect(dialog.get_by_role("link", name=job_id)).to_be_visible()
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name=f"Only {job_id[:16]}").click()

    await expect(page).to_have_url(f"{site.url}/audit")
    await page.get_by_label("Action").fill("no.such.action")
    await expect(page.get_by_text("No matches")).to_be_visible()


async def test_a_viewer_sees_no_button_that_needs_a_higher_role(
    site: Site, visit: Visiting
) -> None:
    await dead_run(site, "for a viewer")
    page = (await visit("/queues", role="viewer")).page
    await expect(page.get_by_role("row").filter(has_text="default").first).to_be_visible()

    await expect(page.get_by_role("button", name="Actions for")).to_have_count(0)
    for name in ("Tenants", "Keys", "Secrets", "Audit"):
        await expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
    await page.goto(f"{site.url}/dead-letters?q=for a viewer")
    await open_group(page, "'for a viewer'")
    for name in ("Requeue", "Drop", "Edit and requeue"):
        await expect(page.get_by_role("button", name=name)).to_have_count(0)
    await page.goto(f"{site.url}/workers")
    await expect(page.get_by_role("heading", name="Workers")).to_be_visible()
    await expect(page.get_by_role("button", name="Drain")).to_have_count(0)
