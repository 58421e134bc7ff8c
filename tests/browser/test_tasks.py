"""Tasks: the list, the task page, running a task, and 100,000 submissions outside the job list."""

import re
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any, Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from tests.browser.conftest import Visiting
from tests.browser.test_figures import BERLIN
from tests.support.browsing import REFUSED, Site, Visit, look, visiting
from tests.support.databases import clone_url, drop
from tests.support.serving import Served, serving
from tests.support.task_history import insert_task_runs

from rota.runtime.clock import SystemClock
from rota.store.embedded import Embedded

KIND: Final = "billing.send_invoice"
DEFINITIONS: Final = 40
ENDED, WAITING, SCHEDULED = 30_000, 50_000, 20_000


async def test_a_task_is_found_by_keys_and_shows_what_its_handler_declares(
    visit: Visiting,
) -> None:
    page = (await visit("/")).page
    await expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    await page.keyboard.press("g")
    await page.keyboard.press("x")
    await expect(page.get_by_role("heading", name="Tasks")).to_be_visible()
    await expect(page.get_by_role("row").filter(has_text="demo.report")).to_be_visible()
    await look(page, "tasks")

    await page.keyboard.press("/")
    await page.keyboard.type("HTTP request")
    await expect(page.get_by_role("row")).to_have_count(2)
    await page.get_by_role("link", name="http", exact=True).click()

    await expect(page.get_by_text("Sends an HTTP request.")).to_be_visible()
    fields = page.get_by_role("table", name="Payload fields")
    await expect(fields.get_by_role("row").filter(has_text="url")).to_contain_text("yes")
    workers = page.get_by_role("table", name="Workers serving this task")
    await expect(workers.get_by_role("row")).to_have_count(2)
    await look(page, "task")


async def test_a_task_is_run_from_its_page(site: Site, visit: Visiting) -> None:
    page = (await visit("/tasks/demo.heartbeat")).page
    await expect(page.get_by_role("row").filter(has_text="demo: heartbeat").first).to_be_visible()

    await page.get_by_role("link", name="Run", exact=True).click()
    await expect(page.get_by_role("heading", name="Run demo.heartbeat")).to_be_visible()
    await expect(page.get_by_label("Kind")).to_have_value("demo.heartbeat")
    await page.get_by_role("button", name="Run", exact=True).click()

    await expect(page).to_have_url(re.compile("/jobs/job_"))
    job_id = page.url.rpartition("/")[2]
    made = (await site.platform.get(f"/v1/jobs/{job_id}")).json
    assert (made["kind"], made["schedule_type"]) == ("demo.heartbeat", "IMMEDIATE")


async def test_an_unknown_task_and_a_task_without_workers_are_reported(
    site: Site, visit: Visiting
) -> None:
    made = await site.platform.post("/v1/jobs", {"kind": "team/without workers"})
    assert made.status == 201, made.text
    visitor = await visit("/tasks/no.such.task")
    visitor.faults.expect(REFUSED)
    page = visitor.page
    await expect(page.get_by_text("Task not found")).to_be_visible()
    await page.get_by_role("link", name="Show all tasks").click()
    await page.get_by_label("Workers").select_option("false")
    row = page.get_by_role("row").filter(has_text="team/without workers")
    await expect(row).to_contain_text("none")

    await row.get_by_role("link").click()

    await expect(page.get_by_text(re.compile("No worker serves this task"))).to_be_visible()
    await expect(page.locator('[data-figure="task.waiting"]')).to_have_text("1")


# 100,000 submissions of one task and 40 definitions.


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def crowded(
    server: Embedded, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Served]:
    url = await clone_url(server.url)
    async with serving(url, tmp_path_factory.mktemp("tasks")) as api:
        # All finished runs ended within 20 hours, so they are in every 24-hour window.
        now = SystemClock().now() - timedelta(minutes=1)
        await insert_task_runs(
            api.conn,
            KIND,
            now=now,
            ended=ENDED,
            waiting=WAITING,
            scheduled=SCHEDULED,
            apart="2.4 s",
        )
        jobs = [
            {"name": f"nightly {number:02}", "kind": KIND, "cron_expression": f"{number} 2 1 1 *"}
            for number in range(DEFINITIONS)
        ]
        made = await api.platform.post("/v1/jobs/bulk", {"jobs": jobs})
        assert made.status == 201, made.text
        await api.conn.execute("analyze rota.runs, rota.live_runs, rota.scheduled_runs")
        yield api
    await drop(server.url, url)


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(
    crowded: Served, chromium: Browser, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Visit]:
    folder = tmp_path_factory.getbasetemp()
    site = Site(url=crowded.url, folder=folder, platform=crowded.platform, process=0)
    async with visiting(chromium, site, key=crowded.platform.key) as visit:
        yield visit


async def figure(page: Page, name: str) -> str:
    return (await page.locator(f'[data-figure="{name}"]').inner_text()).strip()


async def test_the_jobs_list_shows_the_definitions_and_the_task_shows_the_rest(
    crowded: Served, visitor: Visit
) -> None:
    """100,000 submissions are not in the job list; each of them is in a figure of its task."""
    page = await visitor.open("/jobs")
    await expect(page.get_by_role("row")).to_have_count(DEFINITIONS + 1)
    await expect(page.get_by_text(f"{DEFINITIONS} jobs", exact=True)).to_be_visible()

    await visitor.open("/tasks")
    row = page.get_by_role("row").filter(has_text=KIND)
    await expect(row).to_contain_text(f"{WAITING:,}")
    await expect(row).to_contain_text(f"{SCHEDULED:,}")
    await row.get_by_role("link").click()

    await expect(page.locator('[data-figure="task.waiting"]')).to_have_text(f"{WAITING:,}")
    assert await figure(page, "task.running") == "0"
    assert await figure(page, "task.scheduled") == f"{SCHEDULED:,}"
    assert await figure(page, "task.rate.note") == f"{ENDED:,} finished"
    jobs = page.get_by_role("table", name=f"Jobs of {KIND}")
    await expect(jobs.get_by_role("row")).to_have_count(DEFINITIONS + 1)
    (stored,) = await crowded.conn.fetch(
        "select (select count(*) from rota.jobs) as jobs,"
        " (select count(*) from rota.live_runs) as waiting,"
        " (select count(*) from rota.scheduled_runs) as scheduled,"
        " (select count(*) from rota.runs) as ended"
    )
    assert tuple(stored) == (DEFINITIONS, WAITING, SCHEDULED, ENDED)


TOOK: Final = "extract(epoch from finished_at - started_at)"
WAIT: Final = "extract(epoch from started_at - greatest(due_at, created_at))"


async def test_the_figures_of_the_task_are_what_the_tables_say(
    crowded: Served, visitor: Visit
) -> None:
    page = await visitor.open(f"/tasks/{KIND}")
    await expect(page.locator('[data-figure="task.waiting"]')).to_have_text(f"{WAITING:,}")

    (wanted,) = await crowded.conn.fetch(
        f"select percentile_cont(array[0.5, 0.99]) within group (order by {TOOK}) as took,"
        f" percentile_cont(array[0.5, 0.99]) within group (order by {WAIT}) as waited,"
        " count(*) filter (where state = 'dead') as dead from rota.runs"
    )
    shown: Any = wanted
    assert await figure(page, "task.failure_rate") == f"{100 * shown['dead'] / ENDED:g} %"
    assert await figure(page, "task.failure_rate.note") == f"{shown['dead']:,} of {ENDED:,}"
    for name, seconds in (("duration", shown["took"]), ("wait", shown["waited"])):
        told = [await figure(page, f"task.{name}"), await figure(page, f"task.{name}.note")]
        found = [seconds_of(told[0]), seconds_of(told[1].removeprefix("p99 "))]
        # Percentiles are accurate to 5 %, and shown with two digits.
        assert found == pytest.approx([float(each) for each in seconds], rel=0.1), told
    before = await hours(crowded)
    points = await told_by_chart(page, "task.chart.ended", 24)
    assert points in (before, await hours(crowded))
    failure = await crowded.conn.fetchval(
        "select reason ->> 'message' from rota.runs where state = 'dead' order by id desc limit 1"
    )
    await expect(page.get_by_text(failure, exact=True)).to_be_visible()


def seconds_of(text: str) -> float:
    number, unit = text.split(" ")[:2]
    return float(number) * {"ms": 0.001, "s": 1.0}[unit]


async def hours(api: Served) -> list[str]:
    """The chart's text for each of the last 24 hours."""
    rows: Any = await api.conn.fetch(
        "select h as start, count(r.id) as ended,"
        " count(r.id) filter (where r.state = 'dead') as failed"
        " from generate_series(date_trunc('hour', now()) - interval '23 hours', now(), '1 hour')"
        " as h left join rota.runs as r"
        " on r.finished_at >= h and r.finished_at < h + interval '1 hour' group by h order by h"
    )
    return [
        f"{middle(row['start']):%Y-%m-%d %H:%M}:"
        f" {row['ended']:,} finished, {row['failed']:,} failed"
        for row in rows
    ]


def middle(start: datetime) -> datetime:
    return (start + timedelta(minutes=30)).astimezone(BERLIN)


async def told_by_chart(page: Page, name: str, number: int) -> list[str]:
    chart = page.locator(f'[data-figure="{name}"]')
    said = page.locator(".chart").filter(has=chart).get_by_role("status")
    await chart.focus()
    found: list[str] = []
    for _ in range(number):
        await page.keyboard.press("ArrowRight")
        found.append(await said.inner_text())
    return found
