"""Jobs: the list, the job page, and all actions on a job (issue 7, point 2)."""

import re
from typing import Any

from playwright.async_api import Page, expect
from tests.browser.conftest import Visiting
from tests.support.browsing import REFUSED, Site, look

NEVER = {"kind": "demo.heartbeat", "cron_expression": "30 2 * * *", "timezone": "Europe/Berlin"}


async def job(site: Site, name: str, **given: Any) -> str:
    made = await site.platform.post("/v1/jobs", {"name": name, **NEVER, **given})
    assert made.status == 201, made.text
    return str(made.json["job_id"])


async def read(site: Site, job_id: str) -> dict[str, Any]:
    found: dict[str, Any] = (await site.platform.get(f"/v1/jobs/{job_id}")).json
    return found


async def more(page: Page, action: str) -> None:
    await page.get_by_role("button", name="More", exact=True).click()
    await page.get_by_role("menuitem", name=action).click()


async def test_jobs_are_filtered_by_name_status_and_label_and_the_url_keeps_the_filters(
    site: Site, visit: Visiting
) -> None:
    await job(site, "found by its label", labels={"team": "billing"})
    page = (await visit("/jobs")).page
    row = page.get_by_role("row").filter(has_text="found by its label")
    await expect(page.get_by_role("img", name=re.compile("Recent runs of demo"))).not_to_have_count(
        0
    )
    await look(page, "jobs")

    await page.keyboard.press("/")
    await page.keyboard.type("by its lab")
    await expect(page).to_have_url(re.compile("q=by"))
    await expect(page.get_by_role("row")).to_have_count(2)
    await row.get_by_role("link", name="team:billing").click()
    await expect(page).to_have_url(re.compile("label=team%3Abilling"))
    await page.reload()
    await expect(row).to_be_visible()
    await page.get_by_label("Status").select_option("paused")

    await expect(page.get_by_text("No matches")).to_be_visible()
    await page.get_by_role("link", name="Show all jobs").click()
    await expect(page.get_by_role("row").filter(has_text="demo: heartbeat")).to_be_visible()


async def test_one_time_submissions_are_listed_separately_and_have_their_own_page(
    site: Site, visit: Visiting
) -> None:
    draft = {
        "name": "greet ada once",
        "kind": "demo.heartbeat",
        "schedule": {"after": "PT1H"},
        "payload": {"to": "ada"},
        "labels": {"team": "greeters"},
        "user_id": "u003",
    }
    made = await site.platform.post("/v1/jobs", draft)
    assert made.status == 201, made.text
    page = (await visit("/jobs?q=greet+ada")).page
    await expect(page.get_by_text("No matches")).to_be_visible()

    await page.get_by_label("Type").select_option("One-time")
    await page.get_by_role("link", name="greet ada once").click()

    await expect(page.get_by_role("heading", name="greet ada once")).to_be_visible()
    await expect(page.get_by_text("The run is due at")).to_be_visible()
    await expect(page.get_by_text("team:greeters")).to_be_visible()
    await expect(page.get_by_role("button", name="Pause")).to_have_count(0)
    await page.get_by_role("button", name="Run now").click()
    await page.get_by_role("dialog").get_by_role("button", name="Run now").click()
    await expect(page).to_have_url(re.compile("/runs/run_"))
    about = page.get_by_role("main")
    for text in ("Submitted by", "Submitted from", "127.0.0.1", "team:greeters", "u003"):
        await expect(about.get_by_text(text).first).to_be_visible()


async def test_a_one_time_submission_is_cancelled_from_its_page(
    site: Site, visit: Visiting
) -> None:
    later = {"kind": "demo.heartbeat", "schedule": {"after": "PT1H"}}
    made = await site.platform.post("/v1/jobs", later)
    page = (await visit(f"/jobs/{made.json['job_id']}")).page

    await more(page, "Cancel run")
    await page.get_by_role("button", name="Cancel run").click()

    await expect(page.get_by_text("Cancelled demo.heartbeat")).to_be_visible()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(page.get_by_role("main").get_by_text("cancelled").first).to_be_visible()
    found = await read(site, made.json["job_id"])
    assert (found["status"], found["next_run_at"]) == ("finished", None)


async def test_jobs_are_sorted_by_their_column_heads(site: Site, visit: Visiting) -> None:
    for name in ("sorted b", "sorted c", "sorted a"):
        await job(site, name)
    page = (await visit("/jobs?q=sorted")).page
    names = page.get_by_role("row").get_by_role("link", name=re.compile("^sorted .$"))
    await expect(names).to_have_text(["sorted a", "sorted c", "sorted b"])

    await page.get_by_role("button", name="Name").click()
    await expect(names).to_have_text(["sorted a", "sorted b", "sorted c"])
    await page.get_by_role("button", name="Name").click()

    await expect(names).to_have_text(["sorted c", "sorted b", "sorted a"])
    await expect(page).to_have_url(re.compile("sort=-name"))


async def test_the_list_is_navigated_and_opened_by_keys(site: Site, visit: Visiting) -> None:
    await job(site, "walked 1")
    await job(site, "walked 2")
    page = (await visit("/jobs?q=walked")).page
    await expect(page.get_by_role("row")).to_have_count(3)

    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await expect(page.get_by_role("link", name="walked 1")).to_be_focused()
    await page.keyboard.press("k")
    await expect(page.get_by_role("link", name="walked 2")).to_be_focused()
    await page.keyboard.press("Enter")

    await expect(page.get_by_role("heading", name="walked 2")).to_be_visible()


async def test_the_job_page_shows_ticks_with_reasons_durations_and_next_runs(
    site: Site, visit: Visiting
) -> None:
    page = (await visit("/jobs?q=slower")).page
    await page.get_by_role("link", name="demo: slower than its interval").click()

    strip = page.get_by_role("list", name="Ticks, oldest first")
    skipped = strip.get_by_role("link", name=re.compile("skipped, previous run still active"))
    await expect(skipped.first).to_be_visible(timeout=30_000)
    await expect(
        page.get_by_role("img", name=re.compile("Run duration by start time"))
    ).to_be_visible()
    await expect(page.get_by_text("Every 5 seconds", exact=False)).to_be_visible()
    await look(page, "job")

    await page.get_by_role("link", name="Runs", exact=True).last.click()
    await expect(page).to_have_url(re.compile("tab=runs"))
    await expect(page.get_by_role("row").nth(2)).to_be_visible()
    await page.get_by_role("link", name="Settings", exact=True).click()
    await expect(page.get_by_text("skip the new run")).to_be_visible()


async def test_the_next_runs_show_the_effects_of_daylight_saving(
    site: Site, visit: Visiting
) -> None:
    job_id = await job(site, "in the hour that is missing")

    page = (await visit(f"/jobs/{job_id}")).page

    await expect(page.get_by_text("At 02:30 every day, Europe/Berlin.")).to_be_visible()
    await expect(page.get_by_text(re.compile("which the clock jumped over"))).to_be_visible()


async def test_a_job_is_created_with_the_form_of_its_kind_and_a_live_preview(
    site: Site, visit: Visiting
) -> None:
    visitor = await visit("/jobs/new")
    visitor.faults.expect(REFUSED)
    page = visitor.page
    await page.get_by_label("Name (optional)").fill("made in the browser")
    await page.get_by_label("Kind").fill("http")
    await page.get_by_label("url").fill("https://example.org/")
    await page.get_by_label("method").select_option("POST")
    await page.get_by_label("Cron expression").fill("30 2 * *")
    await expect(page.get_by_text(re.compile(r"\(got 4\)")).first).to_be_visible()
    await page.get_by_label("Cron expression").fill("15 9 * * mon-fri")
    await page.get_by_label("Time zone").fill("Asia/Kolkata")
    await expect(page.get_by_text(re.compile("At 09:15.*Asia/Kolkata"))).to_be_visible()
    await page.get_by_label("Labels").fill("team: web")
    await page.get_by_label("Description").fill("Asks the shop for its orders.")
    await look(page, "new-job")

    await page.get_by_role("button", name="Create job").click()

    await expect(page.get_by_role("heading", name="made in the browser")).to_be_visible()
    found = await read(site, page.url.rpartition("/")[2])
    assert found["payload"] == {"method": "POST", "url": "https://example.org/"}
    assert (found["cron_expression"], found["timezone"]) == ("15 9 * * mon-fri", "Asia/Kolkata")
    assert found["labels"] == {"team": "web"}
    await page.get_by_role("link", name="Settings", exact=True).click()
    await expect(page.get_by_text("Asks the shop for its orders.")).to_be_visible()


async def test_a_rejected_job_shows_the_reason_and_keeps_the_form(
    site: Site, visit: Visiting
) -> None:
    await job(site, "taken already")
    visitor = await visit("/jobs/new")
    visitor.faults.expect(REFUSED)
    page = visitor.page
    await page.get_by_role("button", name="Create job").click()
    await expect(page.get_by_text("Enter a kind or a name.").first).to_be_visible()
    await page.get_by_label("Name (optional)").fill("taken already")
    await page.get_by_label("Payload").fill('{"a": 1')
    await page.get_by_role("button", name="Create job").click()
    await expect(page.get_by_text(re.compile("Invalid JSON")).first).to_be_visible()
    await page.get_by_label("Payload").fill('{"a": 1}')

    await page.get_by_role("button", name="Create job").click()

    await expect(page.get_by_role("alert")).to_contain_text("taken already")
    await expect(page.get_by_label("Payload")).to_have_value('{"a": 1}')


async def test_an_edit_sends_only_changed_fields_and_is_recorded(
    site: Site, visit: Visiting
) -> None:
    job_id = await job(site, "edited", payload={"pages": 1}, max_retries=7, deadline="2h")
    before = await read(site, job_id)
    page = (await visit(f"/jobs/{job_id}")).page
    await more(page, "Edit")
    await page.get_by_label("Cron expression").fill("0 4 * * *")
    await page.get_by_label("Payload").fill('{"pages": 2}')
    await page.get_by_text("Daylight saving, calendars").click()
    await page.get_by_label("Ticks missed during an outage").select_option("all")
    await page.get_by_label("Run deadline").fill("")

    await page.get_by_role("button", name="Save").click()

    await expect(page).to_have_url(re.compile(f"/jobs/{job_id}$"))
    await expect(page.get_by_text("At 04:00 every day, Europe/Berlin.")).to_be_visible()
    after = await read(site, job_id)
    assert after["payload"] == {"pages": 2}
    assert (before["deadline"], after["deadline"]) == ("PT2H", None)
    assert after["schedule"]["misfire"] == before["schedule"]["misfire"] | {"on_outage": "all"}
    same = ("max_retries", "queue", "timeout", "labels", "overlap", "priority")
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    await page.get_by_role("link", name="History", exact=True).click()
    await expect(page.get_by_role("row").filter(has_text="update")).to_contain_text("payload")


async def test_an_edit_of_a_job_that_changed_meanwhile_is_rejected(
    site: Site, visit: Visiting
) -> None:
    job_id = await job(site, "changed by two")
    visitor = await visit(f"/jobs/{job_id}/edit")
    visitor.faults.expect(REFUSED)
    page = visitor.page
    await page.get_by_label("Queue", exact=True).fill("mine")
    await site.platform.call("PATCH", f"/v1/jobs/{job_id}", {"queue": "theirs"})

    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("This job has changed since you opened it.")).to_be_visible()
    assert (await read(site, job_id))["queue"] == "theirs"
    await page.get_by_role("button", name="Reload the current version").click()

    await expect(page.get_by_label("Queue", exact=True)).to_have_value("theirs")


async def test_a_job_is_paused_with_a_reason_and_resumed_with_its_missed_ticks(
    site: Site, visit: Visiting
) -> None:
    job_id = await job(site, "paused and resumed")
    page = (await visit(f"/jobs/{job_id}")).page
    await page.get_by_role("button", name="Pause").click()
    await page.get_by_label("Reason (optional)").fill("the mail server moves")
    await page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    await expect(
        page.get_by_text(re.compile("The job was paused by .*the mail server moves"))
    ).to_be_visible()

    await page.get_by_role("button", name="Resume").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label(re.compile("Run once")).check()
    await dialog.get_by_role("button", name="Resume").click()

    await expect(page.get_by_role("button", name="Pause")).to_be_visible()
    assert (await read(site, job_id))["status"] == "active"
    entries = await site.platform.get(f"/v1/audit?thing_id={job_id}&action=job.resume")
    assert entries.json["data"][0]["after"] == {"missed": "once"}


async def test_a_job_runs_now_with_a_different_payload(site: Site, visit: Visiting) -> None:
    job_id = await job(site, "run by hand", payload={"pages": 1})
    page = (await visit(f"/jobs/{job_id}")).page
    await page.get_by_role("button", name="Run now").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Payload").fill('{"pages": 99}')
    await dialog.get_by_role("button", name="Run now").click()

    await expect(page).to_have_url(re.compile(r"/runs/run_[0-9a-f]{32}"))
    run = (await site.platform.get(f"/v1/runs/{page.url.rpartition('/')[2]}")).json
    assert run["payload"] == {"pages": 99}
    assert (await read(site, job_id))["payload"] == {"pages": 1}


async def test_a_backfill_is_previewed_before_it_starts(site: Site, visit: Visiting) -> None:
    job_id = await job(site, "filled in", cron_expression="0 * * * *", timezone="UTC")
    page = (await visit(f"/jobs/{job_id}")).page
    await more(page, "Backfill")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Last day").click()
    await dialog.get_by_role("button", name="Preview").click()
    await expect(dialog.get_by_text("24 runs will be created", exact=False)).to_be_visible()
    await look(page, "backfill-wizard")
    # A changed range needs a new preview.
    await dialog.get_by_role("button", name="Last hour").click()
    await dialog.get_by_role("button", name="Preview").click()
    await dialog.get_by_role("button", name="Create 1 run").click()

    await expect(page).to_have_url(re.compile("/backfills"))
    found = (await site.platform.get(f"/v1/backfills?job_id={job_id}")).json["data"]
    assert len(found) == 1


async def test_a_job_is_deleted_after_a_confirmation(site: Site, visit: Visiting) -> None:
    job_id = await job(site, "to be deleted")
    visitor = await visit("/jobs?q=to be deleted")
    page = visitor.page
    await page.get_by_role("button", name="Actions for to be deleted").click()
    await page.get_by_role("menuitem", name="Delete").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Cancel").click()
    assert (await read(site, job_id))["status"] == "active"

    await page.get_by_role("button", name="Actions for to be deleted").click()
    await page.get_by_role("menuitem", name="Delete").click()
    await dialog.get_by_role("button", name="Delete").click()

    await expect(page.get_by_text("Deleted to be deleted")).to_be_visible()
    visitor.faults.expect(REFUSED)
    await visitor.open(f"/jobs/{job_id}")
    await expect(page.get_by_text("Job not found")).to_be_visible()


async def test_a_viewer_sees_everything_and_can_change_nothing(site: Site, visit: Visiting) -> None:
    job_id = await job(site, "only looked at")

    visitor = await visit(f"/jobs/{job_id}", role="viewer")
    page = visitor.page
    await expect(page.get_by_role("heading", name="only looked at")).to_be_visible()

    for action in ("Run now", "Pause", "More"):
        await expect(page.get_by_role("button", name=action, exact=True)).to_have_count(0)
    await expect(page.get_by_role("link", name="Keys")).to_have_count(0)
    await visitor.open("/jobs/new")
    await expect(page.get_by_text("Permission denied")).to_be_visible()


async def test_hundreds_of_jobs_are_listed_with_few_rendered_rows(
    site: Site, visit: Visiting
) -> None:
    drafts = [{"name": f"many {n:04}", **NEVER} for n in range(250)]
    made = await site.platform.post("/v1/jobs/bulk", {"jobs": drafts})
    assert made.status == 201, made.text
    page = (await visit("/jobs?q=many&sort=name")).page

    table = page.get_by_role("table", name="Jobs")
    await expect(table).to_have_attribute("aria-rowcount", "251")
    assert await page.get_by_role("row").count() < 100
    await expect(table.get_by_role("link", name="many 0000")).to_be_visible()
    await page.locator(".table-box").evaluate("box => box.scrollTo(0, box.scrollHeight)")

    await expect(page.get_by_role("link", name="many 0249")).to_be_visible()
