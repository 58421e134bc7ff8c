"""The overview begins with what is wrong, what to do about it, and a button that does it."""

from uuid import uuid4

from playwright.async_api import Page, expect
from tests.browser.conftest import Visiting
from tests.support.browsing import Site, look


async def paused_queue(site: Site) -> str:
    """A paused queue in which a run waits."""
    queue = f"q{uuid4().hex[:8]}"
    made = await site.platform.post(
        "/v1/jobs", {"name": queue, "kind": "demo.greet", "queue": queue}
    )
    assert made.status == 201, made.text
    await site.platform.post(f"/v1/queues/{queue}/pause")
    return queue


async def cancel_runs(site: Site, queue: str) -> None:
    await site.platform.post(f"/v1/queues/{queue}/resume")
    runs = (await site.platform.get(f"/v1/runs?queue={queue}")).json["data"]
    for run in runs:
        await site.platform.post(f"/v1/runs/{run['run_id']}/cancel")


async def shown(page: Page, text: str) -> None:
    """All problems of the overview, and one of them in view."""
    more = page.get_by_role("button", name="Show all", exact=True)
    problem = page.get_by_role("listitem").filter(has_text=text)
    await expect(problem.or_(more).first).to_be_visible()
    if await more.is_visible():
        await more.click()
    await expect(problem).to_be_visible()


async def test_the_overview_begins_with_a_problem_and_its_button_ends_it(
    site: Site, visit: Visiting
) -> None:
    queue = await paused_queue(site)
    page = (await visit("/")).page

    sentence = f"Queue {queue} is paused for all tenants; 1 run cannot start."
    await shown(page, sentence)
    problem = page.get_by_role("listitem").filter(has_text=sentence)
    await expect(problem).to_contain_text("warning")
    await expect(problem.locator("code")).to_have_text(f"rota queues resume {queue}")
    await look(page, "overview-problems")

    await problem.get_by_role("button", name=f"Resume queue: {queue}").click()

    await expect(page.get_by_text(sentence)).to_have_count(0)
    assert not (await site.platform.get("/v1/problems?fresh=true")).text.count(sentence)
    await cancel_runs(site, queue)


async def test_a_viewer_sees_the_problem_and_no_button(site: Site, visit: Visiting) -> None:
    queue = await paused_queue(site)
    page = (await visit("/", role="viewer")).page

    sentence = f"Queue {queue} is paused for all tenants; 1 run cannot start."
    await shown(page, sentence)
    problem = page.get_by_role("listitem").filter(has_text=sentence)
    await expect(problem.get_by_role("button")).to_have_count(0)
    await cancel_runs(site, queue)


async def test_dead_letters_are_requeued_after_a_question(site: Site, visit: Visiting) -> None:
    job = {"kind": "demo.report", "max_retries": 0, "payload": {"pages": "none to requeue"}}
    made = await site.platform.post("/v1/jobs", {"name": "report to requeue", **job})
    await site.ends(made.json["run_id"])
    page = (await visit("/")).page

    await shown(page, "none to requeue")
    problem = (
        page.get_by_role("listitem")
        .filter(has_text="failed for good")
        .filter(has_text="none to requeue")
    )
    await problem.get_by_role("button", name="Requeue: demo.report").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("Requeue 1 run.")
    await dialog.get_by_role("button", name="Requeue", exact=True).click()

    await expect(dialog).to_have_count(0)
    await site.ends(made.json["run_id"], attempt=2)
