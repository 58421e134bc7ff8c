"""Graph diagrams, the calendar, events and backfills (I2, D5, D6)."""

import re
from datetime import timedelta

from playwright.async_api import expect
from tests.browser.conftest import Visiting
from tests.support.browsing import Site, look
from tests.support.shop import CLOCK

STEPS = [
    {"name": "extract", "kind": "demo.report", "payload": {"pages": 1}},
    {"name": "broken", "kind": "demo.hopeless", "needs": ["extract"]},
    {
        "name": "many",
        "kind": "demo.heartbeat",
        "needs": ["extract"],
        "map": {"over": "25"},
    },
    {"name": "load", "kind": "demo.heartbeat", "needs": ["broken", "many"]},
]


async def graph_job(site: Site, name: str, steps: object, **job: object) -> tuple[str, str]:
    body = {"name": name, "kind": "graph", "graph": {"steps": steps}, "max_retries": 0, **job}
    made = await site.platform.post("/v1/jobs", body)
    assert made.status == 201, made.text
    return str(made.json["job_id"]), str(made.json["run_id"])


async def test_a_graph_run_shows_its_steps_and_retries_the_failed_ones(
    site: Site, visit: Visiting
) -> None:
    _, run_id = await graph_job(site, "a graph to look at", STEPS)
    page = (await visit(f"/graphs/{run_id}")).page
    drawing = page.get_by_role("group", name="Graph diagram")

    await expect(
        drawing.get_by_role("link", name=re.compile(r"^extract ?succeeded"))
    ).to_be_visible(timeout=20_000)
    await expect(drawing.get_by_role("link", name=re.compile(r"^broken ?dead"))).to_be_visible()
    await expect(drawing.locator(".graph-step")).to_have_count(4)
    await expect(
        drawing.get_by_role("link", name=re.compile(r"^many ?succeeded, 25"))
    ).to_be_visible(timeout=20_000)
    await expect(page.locator(".page-head .badge")).to_have_text("dead")
    await expect(page.get_by_role("table", name="Steps")).to_contain_text("upstream failed")
    await look(page, "graph-run")

    await page.get_by_role("button", name="Retry failed steps").click()
    await page.get_by_role("dialog").get_by_role("button", name="Retry").click()
    await site.ends(run_id, attempt=2)
    steps = (await site.platform.get(f"/v1/runs/{run_id}/graph")).json
    assert steps["round"] == 1
    await drawing.get_by_role("link", name=re.compile("^broken")).click()
    await expect(page).to_have_url(re.compile(r"/runs/run_[0-9a-f]{32}"))


async def test_a_graph_run_is_paused_resumed_and_cancelled(site: Site, visit: Visiting) -> None:
    steps = [
        {"name": "first", "kind": "demo.report", "payload": {"pages": 4}},
        {"name": "second", "kind": "demo.report", "payload": {"pages": 500}, "needs": ["first"]},
    ]
    _, run_id = await graph_job(site, "a graph to stop", steps)
    page = (await visit(f"/graphs/{run_id}")).page

    await page.get_by_role("button", name="Pause", exact=True).click()
    await page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    await expect(page.get_by_text("Paused since")).to_be_visible()
    await page.get_by_role("button", name="Resume").click()
    drawing = page.get_by_role("group", name="Graph diagram")
    await expect(drawing.get_by_role("link", name=re.compile(r"^second ?running"))).to_be_visible(
        timeout=20_000
    )
    await page.get_by_role("button", name="Cancel graph run").click()
    await page.get_by_role("dialog").get_by_role("button", name="Cancel graph run").click()

    await expect(page.locator(".page-head .badge")).to_have_text("cancelled")


async def test_graphs_are_listed_and_their_definitions_are_drawn(
    site: Site, visit: Visiting
) -> None:
    page = (await visit("/graphs")).page
    row = page.get_by_role("table", name="Graphs", exact=True).get_by_role("row")
    await look(page, "graphs")

    await row.filter(has_text="demo: pipeline").get_by_role("link").first.click()

    await expect(page.locator(".graph-step")).to_have_count(5)
    await look(page, "graph")


async def test_the_calendar_shows_the_busiest_times_and_their_jobs(
    site: Site, visit: Visiting
) -> None:
    for number in range(3):
        job = {"name": f"herd {number}", "kind": "demo.heartbeat", "cron_expression": "7 3 * * *"}
        await site.platform.post("/v1/jobs", job | {"timezone": "UTC"})
    day = (CLOCK.now() + timedelta(days=2)).date().isoformat()
    page = (await visit(f"/calendar?day={day}")).page

    await expect(page.get_by_role("img", name=re.compile("ticks of"))).to_be_visible()
    await expect(page.get_by_text("Busiest times:")).to_be_visible()
    await look(page, "calendar")
    await page.locator(".busiest button").first.click()
    await expect(page.get_by_text("Ticks at")).to_be_visible()
    await expect(page).to_have_url(re.compile("at="))
    await page.get_by_role("button", name="Week").click()
    await expect(page).to_have_url(re.compile("view=week"))
    await expect(page.get_by_role("img", name=re.compile("ticks of"))).to_be_visible()
    await look(page, "calendar-week")


async def test_an_event_is_sent_and_lists_the_matching_jobs(site: Site, visit: Visiting) -> None:
    job = {"name": "on paid", "kind": "demo.heartbeat", "schedule": {"event": {"type": "paid"}}}
    assert (await site.platform.post("/v1/jobs", job)).status == 201
    page = (await visit("/events")).page

    await page.get_by_role("button", name="Send event").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Type").fill("paid")
    await dialog.get_by_label("Data").fill('{"amount": 3}')
    await dialog.get_by_role("button", name="Send event").click()
    row = page.get_by_role("row").filter(has_text="paid")
    await expect(row.first).to_contain_text("1 run")
    await look(page, "events")
    await row.get_by_role("button").first.click()

    await expect(page.get_by_role("dialog")).to_contain_text("on paid")
    await page.get_by_role("dialog").get_by_role("link", name="Open run").click()
    await expect(page).to_have_url(re.compile(r"/runs/run_"))


async def test_a_backfill_shows_its_progress_and_is_paused_and_cancelled(
    site: Site, visit: Visiting
) -> None:
    job = {
        "name": "to backfill",
        "kind": "demo.customer",
        "cron_expression": "* * * * *",
        "payload": {"customer": 9},
    }
    made = await site.platform.post("/v1/jobs", job)
    now = CLOCK.now().replace(second=0, microsecond=0)
    wanted = {
        "since": (now - timedelta(hours=3)).isoformat(),
        "until": now.isoformat(),
        "at_once": 1,
    }
    path = f"/v1/jobs/{made.json['job_id']}/backfills"
    begun = await site.platform.post(path, wanted)
    assert begun.status == 201, begun.text
    page = (await visit("/backfills")).page
    row = page.get_by_role("row").filter(has_text="to backfill")

    await expect(row).to_contain_text("running")
    await look(page, "backfills")
    await row.get_by_role("button", name=re.compile("^Pause")).click()
    await expect(row).to_contain_text("paused")
    await row.get_by_role("button", name=re.compile("^Cancel")).click()
    await page.get_by_role("dialog").get_by_role("button", name="Cancel backfill").click()
    await expect(row).to_contain_text(re.compile("cancelled|cancelling"))


def in_layers(layers: int, wide: int) -> list[dict[str, object]]:
    """Steps that each need two steps of the previous layer."""
    return [
        {
            "name": f"s{layer}-{place}",
            "kind": "demo.heartbeat",
            "needs": sorted({f"s{layer - 1}-{(place * 7 + each) % wide}" for each in (0, 1)})
            if layer
            else [],
        }
        for layer in range(layers)
        for place in range(wide)
    ]


async def test_a_graph_of_a_thousand_steps_is_drawn_moved_and_zoomed(
    site: Site, visit: Visiting
) -> None:
    body = {"name": "a very large graph", "kind": "graph", "schedule": {"on_demand": True}}
    made = await site.platform.post("/v1/jobs", body | {"graph": {"steps": in_layers(20, 50)}})
    assert made.status == 201, made.text
    page = (await visit(f"/graphs/{made.json['job_id']}")).page
    drawing = page.get_by_role("group", name="Graph diagram")
    first = drawing.locator(".graph-step").filter(has_text=re.compile("^s0-"))

    await expect(first.first).to_be_visible()
    assert await drawing.locator(".graph-step").count() < 150
    await look(page, "graph-large")

    await drawing.focus()
    await page.keyboard.press("0")
    await expect(drawing.locator("path.graph-tile")).to_have_count(1)
    await expect(drawing.locator(".graph-step")).to_have_count(0)
    await page.keyboard.press("+")
    await page.get_by_role("button", name="Zoom in").click()
    await page.get_by_role("button", name="Zoom in").click()
    await page.locator(".graph-overview").click(position={"x": 2, "y": 2})
    await expect(first.first).to_be_visible()

    place = await drawing.bounding_box()
    assert place is not None
    middle = (place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    await page.mouse.move(*middle)
    await page.mouse.down()
    await page.mouse.move(middle[0] - 300, middle[1] - 50, steps=4)
    await page.mouse.up()
    moved = await drawing.evaluate("(box) => [box.scrollLeft, box.scrollTop]")
    assert moved == [300, 50]


async def test_hundreds_of_events_cause_few_requests(site: Site, visit: Visiting) -> None:
    """The number of refetches does not grow with the number of events."""
    page = (await visit("/runs")).page
    await expect(page.get_by_text("Live", exact=True)).to_be_visible()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    steps = [{"name": "many", "kind": "demo.heartbeat", "map": {"over": "400"}}]

    _, run_id = await graph_job(site, "a burst of events", steps)
    await site.ends(run_id)

    row = page.get_by_role("table", name="Runs").get_by_role("row")
    await expect(row.filter(has_text="a burst of events").first).to_be_visible()
    assert len([url for url in asked if "/ui/v1/runs" in url]) < 40
