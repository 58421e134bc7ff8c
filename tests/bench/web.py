"""How the dashboard bears a busy Rota, in a real Chromium: `make bench-web` (issue 7, point 9).

    python -m tests.bench.web [--seconds 10] [--jobs 600] [--steps 300]

`rota up` with so many jobs that run every second, so that its live feed tells more than 500 events
a second, and one graph run whose steps go on meanwhile. Each page is looked at for so many seconds
while the feed goes on. A long task is one that keeps the page's thread for more than 50 ms: whoever
types or scrolls notices. `busy` is the part of a processor that this thread took, `frames` how many
pictures a second it made, of 60. Rota, its database and the browser share this machine.
"""

import argparse
import asyncio
import json
import signal
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp
from playwright.async_api import Browser, BrowserContext, Page

from tests.support.browsing import WIDE, Site, log_in, open_chromium
from tests.support.installation import ROTA, address_said, clean
from tests.support.serving import Caller

HANDLERS = """
import asyncio

from rota.executors.python import Handlers

handlers = Handlers()


@handlers.handler("busy")
async def busy(_context, _payload):
    return None


@handlers.handler("step")
async def step(_context, _payload):
    await asyncio.sleep(0.5)
"""
# What tells that a page shows what it is for.
SHOWN = {
    "/": "svg[aria-label='Runs that ended, by outcome']",
    "/jobs": "table[aria-label='Jobs'] tbody tr",
    "/runs": "table[aria-label='Runs'] tbody tr",
    "/graphs/{run}": ".graph-step",
}
FIRST = ("/", "/jobs", "/runs")
LOADS = 5
# Long tasks as the browser tells them, frames, and when a page was first complete and at rest.
WATCH = """(() => {
    const seen = window.__seen = {tasks: [], frames: 0};
    new PerformanceObserver((list) => {
        for (const each of list.getEntries()) seen.tasks.push([each.startTime, each.duration]);
    }).observe({type: "longtask", buffered: true});
    const frame = () => { seen.frames += 1; requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
    window.__wait = (selector) => new Promise((done, fail) => {
        const look = () => {
            if (performance.now() > 60_000) return fail(new Error(`there is no ${selector}`));
            if (!document.querySelector(selector)) return setTimeout(look, 5);
            requestIdleCallback(() => done(performance.now()));
        };
        look();
    });
})()"""
TAKEN = """["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type))
    .filter(({name}) => !new URL(name).pathname.startsWith("/ui/"))
    .reduce((sum, {transferSize}) => sum + transferSize, 0)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What a page did for some seconds."""

    tasks: list[float]
    frames: float
    busy: float


@asynccontextmanager
async def rota(folder: Path) -> AsyncIterator[Site]:
    (folder / "app.py").write_text(HANDLERS)
    process = subprocess.Popen(  # noqa: ASYNC220 — read from a thread, it lives for long
        [ROTA, "up", "--app", "app:handlers"],
        cwd=folder,
        env=clean(ROTA_API__PORT="0", ROTA_WORKER__SLOTS="200"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        url = await asyncio.to_thread(address_said, process)
        key = (folder / ".rota" / "admin.key").read_text().strip()
        async with aiohttp.ClientSession() as session:
            caller = Caller(session=session, url=url, key=key)
            yield Site(url=url, folder=folder, platform=caller, process=process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.communicate, timeout=60)


async def make_jobs(site: Site, name: str, number: int, schedule: dict[str, object]) -> None:
    given = [
        {"name": f"{name} {each}", "kind": "busy", "schedule": schedule} for each in range(number)
    ]
    for start in range(0, number, 500):
        made = await site.platform.post("/v1/jobs/bulk", {"jobs": given[start : start + 500]})
        if made.status != 201:
            raise SystemExit(f"the jobs were not made: {made.text[:300]}")


async def long_graph(site: Site, steps: int, *, wide: int = 30) -> str:
    """A graph run of this many steps in layers, of half a second each."""
    defined = [
        {
            "name": f"step-{number // wide}-{number % wide}",
            "kind": "step",
            "needs": sorted(
                {
                    f"step-{number // wide - 1}-{(number * 7 + each * 3) % wide}"
                    for each in range(3)
                    if number >= wide
                }
            ),
        }
        for number in range(steps)
    ]
    body = {"name": f"graph {time.time_ns()}", "kind": "graph", "graph": {"steps": defined}}
    made = await site.platform.post("/v1/jobs", body)
    if made.status != 201:
        raise SystemExit(f"the graph was not made: {made.text[:300]}")
    return str(made.json["run_id"])


async def events_per_second(site: Site, seconds: float) -> float:
    """How many events the feed tells a reader, with those that it only counts."""
    told = 0
    url, headers = f"{site.url}/v1/feed", {"Authorization": f"Bearer {site.platform.key}"}
    end = time.perf_counter() + seconds
    async with site.platform.session.get(url, headers=headers) as answer:
        async for line in answer.content:
            if line.startswith(b"data: "):
                event = json.loads(line[6:])
                told += sum(event.get("missed", {}).values()) or 1
            if time.perf_counter() >= end:
                break
    return told / seconds


@asynccontextmanager
async def visitor(browser: Browser, site: Site) -> AsyncIterator[BrowserContext]:
    context = await browser.new_context(viewport=WIDE)  # type: ignore[arg-type]
    try:
        await log_in(context, site.url, str(site.platform.key))
        await context.add_init_script(WATCH)
        yield context
    finally:
        await context.close()


async def loaded(browser: Browser, site: Site, path: str) -> tuple[float, float]:
    """The first view of a page: milliseconds until it can be used, kilobytes over the wire."""
    async with visitor(browser, site) as context:
        page = await context.new_page()
        await page.goto(f"{site.url}{path}", wait_until="commit")
        ready = float(await page.evaluate("(selector) => __wait(selector)", SHOWN[path]))
        return ready, float(await page.evaluate(TAKEN)) / 1000


async def watched(page: Page, seconds: float) -> Watched:
    session = await page.context.new_cdp_session(page)
    # Of the processor's time: others use this machine, too.
    await session.send("Performance.enable", {"timeDomain": "threadTicks"})

    async def working() -> float:
        figures = (await session.send("Performance.getMetrics"))["metrics"]
        return float(next(each["value"] for each in figures if each["name"] == "TaskDuration"))

    await page.evaluate("__seen.tasks.length = __seen.frames = 0")
    began, before = time.perf_counter(), await working()
    await asyncio.sleep(seconds)
    after, took = await working(), time.perf_counter() - began
    seen: dict[str, Any] = await page.evaluate("__seen")
    await session.detach()
    return Watched(
        tasks=sorted(duration for _, duration in seen["tasks"]),
        frames=seen["frames"] / took,
        busy=(after - before) / took,
    )


async def watch(browser: Browser, site: Site, path: str, options: argparse.Namespace) -> None:
    async with visitor(browser, site) as context:
        page = await context.new_page()
        run = await long_graph(site, options.steps) if "{run}" in path else ""
        await page.goto(f"{site.url}{path.format(run=run)}")
        await page.evaluate("(selector) => __wait(selector)", SHOWN[path])
        await page.get_by_text("Live", exact=True).wait_for()
        found, pace = await asyncio.gather(
            watched(page, options.seconds), events_per_second(site, options.seconds)
        )
    tasks = found.tasks
    print(
        f"{path:<16}{pace:>10.0f}{len(tasks):>12}{sum(tasks):>10.0f}{max(tasks, default=0):>10.0f}"
        f"{found.frames:>8.0f}{found.busy:>8.0%}",
        flush=True,
    )


async def measure(options: argparse.Namespace, folder: Path) -> None:
    async with rota(folder) as site, open_chromium() as browser:
        await make_jobs(site, "once", 200, {"immediate": True})
        print(f"{'first view':<16}{'kB gzipped':>12}{'interactive, ms':>18}{'worst':>8}")
        for path in FIRST:
            views = [await loaded(browser, site, path) for _ in range(LOADS)]
            times = [ready for ready, _ in views]
            print(f"{path:<16}{views[0][1]:>12.0f}{median(times):>18.0f}{max(times):>8.0f}")
        await make_jobs(site, "busy", options.jobs, {"every": "1s"})
        print(
            f"\n{'live':<16}{'events/s':>10}{'long tasks':>12}{'sum, ms':>10}{'longest':>10}"
            f"{'frames':>8}{'busy':>8}"
        )
        for path in SHOWN:
            await watch(browser, site, path, options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--jobs", type=int, default=600)
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rota-web-") as folder:
        asyncio.run(measure(options, Path(folder)))


if __name__ == "__main__":
    main()
