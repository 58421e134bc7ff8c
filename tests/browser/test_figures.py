"""Every figure on the overview, calendar, queue and job pages equals the database (I2).

The expected values are plain SQL, written here and not shared with the code under test. A figure
is an element with `data-figure`; one that has no row in `FIGURES` fails the test of its page.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from tests.support.browsing import Site, Visit, visiting
from tests.support.databases import clone_url, drop
from tests.support.seeded import Seeded, seed
from tests.support.serving import serving

from rota.store.embedded import Embedded

BERLIN: Final = ZoneInfo("Europe/Berlin")
Told = Callable[[Seeded, Page], Awaitable[object]]
FIGURES: Final[dict[str, tuple[Told, Told]]] = {}


def figure(name: str, shown: Told) -> Callable[[Told], Told]:
    """Pairs the text read from the page with the value that the function reads from the tables."""

    def note(wanted: Told) -> Told:
        FIGURES[name] = (shown, wanted)
        return wanted

    return note


# Readers of what a page shows.


def text_of(name: str) -> Told:
    async def read(_seeded: Seeded, page: Page) -> str:
        return (await page.locator(f'[data-figure="{name}"]').inner_text()).strip()

    return read


def texts_of(name: str) -> Told:
    async def read(_seeded: Seeded, page: Page) -> list[str]:
        return [
            each.strip() for each in await page.locator(f'[data-figure="{name}"]').all_inner_texts()
        ]

    return read


def points_of(name: str, number: int) -> Told:
    """The text of a chart at each of its points, moving the cursor by keys."""

    async def read(_seeded: Seeded, page: Page) -> list[str]:
        chart = page.locator(f'[data-figure="{name}"]')
        said = page.locator(".chart").filter(has=chart).get_by_role("status")
        await chart.focus()
        found: list[str] = []
        for _ in range(number):
            await page.keyboard.press("ArrowRight")
            found.append(await said.inner_text())
        return sorted(found)

    return read


def queues_of(name: str) -> Told:
    async def read(_seeded: Seeded, page: Page) -> dict[str, str]:
        found: dict[str, str] = {}
        for row in await page.get_by_role("row").filter(has=page.locator("[data-figure]")).all():
            queue = await row.get_by_role("link").first.inner_text()
            found[queue] = (
                (await row.locator(f'[data-figure="{name}"]').inner_text()).split("\n")[0].strip()
            )
        return found

    return read


# Number formats of the pages.


def length(seconds: float) -> str:
    if seconds == 0:
        return "0 s"
    if seconds < 0.9995:
        return f"{round(seconds * 1000)} ms"
    if seconds < 9.95:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    rest, parts = round(seconds), []
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        number, rest = divmod(rest, size)
        if number:
            parts.append(f"{number} {unit}")
        elif parts:
            break
        if len(parts) == 2:
            break
    return " ".join(parts)


def counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def trimmed(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def wall(at: datetime, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    return f"{at.astimezone(BERLIN):{form}}"


# The overview.

LAG: Final = "extract(epoch from started_at - greatest(due_at, created_at))"
LAGGING: Final = "trigger in ('tick', 'api', 'event') and attempt = 1 and started_at is not null"
HOUR: Final = "finished_at > now() - interval '1 hour'"


@figure("overview.rate", text_of("overview.rate"))
async def rate(seeded: Seeded, _page: Page) -> str:
    ended = await seeded.value(
        "select count(*) from rota.runs where finished_at > now() - interval '10 s'"
    )
    return trimmed(ended / 10, 2)


@figure("overview.rate.note", text_of("overview.rate.note"))
async def average(seeded: Seeded, _page: Page) -> str:
    ended = await seeded.value(f"select count(*) from rota.runs where {HOUR}")
    # The page's hour starts at a full minute; that does not change the second digit.
    assert trimmed(ended / 3600, 2) == trimmed(ended / 3660, 2)
    return f"{trimmed(ended / 3600, 2)} on average in the last hour"


async def lag(seeded: Seeded, share: float) -> str:
    found = await seeded.value(
        f"select percentile_cont({share}) within group (order by {LAG}) from rota.runs"
        f" where {HOUR} and {LAGGING}"
    )
    return length(float(found))


@figure("overview.lag_p50", text_of("overview.lag_p50"))
async def lag_p50(seeded: Seeded, _page: Page) -> str:
    return await lag(seeded, 0.5)


@figure("overview.lag_p99", text_of("overview.lag_p99"))
async def lag_p99(seeded: Seeded, _page: Page) -> str:
    return await lag(seeded, 0.99)


async def failures(seeded: Seeded) -> tuple[int, int]:
    ((bad, good),) = await seeded.rows(
        "select count(*) filter (where state in ('dead', 'lost', 'quarantined')),"
        f" count(*) filter (where state = 'succeeded') from rota.runs where {HOUR}"
    )
    return bad, bad + good


@figure("overview.failure_rate", text_of("overview.failure_rate"))
async def failure_rate(seeded: Seeded, _page: Page) -> str:
    bad, tried = await failures(seeded)
    share = 100 * bad / tried
    return f"{trimmed(share, 0 if share >= 10 else 1)} %"


@figure("overview.failure_rate.note", text_of("overview.failure_rate.note"))
async def failure_numbers(seeded: Seeded, _page: Page) -> str:
    bad, tried = await failures(seeded)
    return f"{bad} of {tried}"


READY: Final = "state in ('queued', 'retrying') and ready_at <= now()"


@figure("overview.waiting", text_of("overview.waiting"))
async def waiting(seeded: Seeded, _page: Page) -> str:
    return str(await seeded.value(f"select count(*) from rota.live_runs where {READY}"))


@figure("overview.waiting.note", text_of("overview.waiting.note"))
async def oldest(seeded: Seeded, _page: Page) -> str:
    age = await seeded.value(
        f"select extract(epoch from now() - min(ready_at)) from rota.live_runs where {READY}"
    )
    return f"oldest waits {length(float(age))}"


LATE: Final = "from rota.cursors where fire_at < now() - interval '1 s'"


@figure("overview.late_ticks", text_of("overview.late_ticks"))
async def late_ticks(seeded: Seeded, _page: Page) -> str:
    return str(await seeded.value(f"select count(*) {LATE}"))


async def late_by(seeded: Seeded) -> str:
    return length(
        float(await seeded.value(f"select extract(epoch from now() - min(fire_at)) {LATE}"))
    )


@figure("overview.late_ticks.note", text_of("overview.late_ticks.note"))
async def latest(seeded: Seeded, _page: Page) -> str:
    return f"by up to {await late_by(seeded)}"


@figure("overview.late", text_of("overview.late"))
async def late_sentence(seeded: Seeded, _page: Page) -> str:
    return f"{await late_ticks(seeded, _page)} ticks are late, by up to {await late_by(seeded)}."


@figure("overview.failing", texts_of("overview.failing"))
async def failing(seeded: Seeded, _page: Page) -> list[str]:
    rows = await seeded.rows(
        "select count(*) as number from rota.runs"
        f" where state in ('dead', 'lost', 'quarantined') and {HOUR}"
        " group by kind_id, reason ->> 'type',"
        " regexp_replace(coalesce(reason ->> 'message', ''), '[0-9]+', '#', 'g')"
        " order by max(finished_at) desc"
    )
    return [counted(row["number"], "run") for row in rows]


@figure("overview.running", texts_of("overview.running"))
async def running(seeded: Seeded, _page: Page) -> list[str]:
    rows = await seeded.rows(
        "select extract(epoch from now() - started_at) as age from rota.live_runs"
        " where state in ('running', 'cancelling') order by started_at"
    )
    return [length(float(row["age"])) for row in rows]


@figure("overview.health.schedulers", text_of("overview.health.schedulers"))
async def schedulers(seeded: Seeded, _page: Page) -> str:
    number = await seeded.value(
        "select count(*) from rota.sessions where role = 'scheduler' and expires_at > now()"
    )
    held = await seeded.value("select count(*) from rota.shards where expires_at > now()")
    return f"{counted(number, 'scheduler')} holds all {held} shards."


@figure("overview.health.workers", text_of("overview.health.workers"))
async def workers(seeded: Seeded, _page: Page) -> str:
    ((number, slots),) = await seeded.rows(
        "select count(*), sum(slots) from rota.sessions where role = 'worker'"
    )
    busy = await seeded.value("select count(*) from rota.live_runs where session_id is not null")
    return f"{busy} of {counted(slots, 'slot')} busy on {counted(number, 'worker')}."


async def answered(_seeded: Seeded, page: Page) -> bool:
    told = await page.locator('[data-figure="overview.health.database"]').inner_text()
    return re.fullmatch(r"Responded in \d+ ms\.", told.strip()) is not None


@figure("overview.health.database", answered)
async def database(seeded: Seeded, _page: Page) -> bool:
    return bool(await seeded.value("select true"))


MINUTES: Final = 60
BUCKETS: Final = (
    "select date_trunc('minute', finished_at) + interval '30 s' as middle, count(*) as number,"
    " count(*) filter (where state = 'succeeded') as good,"
    " count(*) filter (where state in ('dead', 'lost', 'quarantined')) as bad"
    f" from rota.runs where {HOUR} group by 1"
)


@figure("overview.chart.outcomes", points_of("overview.chart.outcomes", MINUTES))
async def outcomes(seeded: Seeded, page: Page) -> dict[str, str]:
    rows = {row["middle"]: row for row in await seeded.rows(BUCKETS)}

    def said(row: Any) -> str:
        good, bad, number = (row["good"], row["bad"], row["number"]) if row else (0, 0, 0)
        return f"{good} succeeded, {number - good - bad} not run, {bad} failed"

    return {wall(at, "%Y-%m-%d %H:%M"): said(rows.get(at)) for at in await minutes(seeded, page)}


@figure("overview.chart.lag", points_of("overview.chart.lag", MINUTES))
async def lags(seeded: Seeded, page: Page) -> dict[str, str]:
    rows = await seeded.rows(
        f"select date_trunc('minute', finished_at) + interval '30 s' as middle,"
        f" max({LAG}) as longest from rota.runs where {HOUR} and {LAGGING} group by 1"
    )
    longest = {row["middle"]: float(row["longest"]) for row in rows}
    return {
        wall(at, "%Y-%m-%d %H:%M"): length(longest[at]) if at in longest else "no runs started"
        for at in await minutes(seeded, page)
    }


async def minutes(seeded: Seeded, _page: Page) -> list[datetime]:
    last = await seeded.value("select date_trunc('minute', now()) + interval '30 s'")
    return [last - timedelta(minutes=back) for back in range(MINUTES - 1, -1, -1)]


# The queues.


def per_queue(name: str, sql: str, told: Callable[[Any], str]) -> None:
    @figure(name, queues_of(name))
    async def wanted(seeded: Seeded, _page: Page) -> dict[str, str]:
        rows = await seeded.rows(
            f"select q.name, {sql} as value from rota.queues as q"
            " left join rota.live_runs as l on l.queue_id = q.id group by q.name"
        )
        return {row["name"]: told(row["value"]) for row in rows}


WAITS: Final = "l.state in ('queued', 'retrying') and l.ready_at"
per_queue("queue.running", "count(*) filter (where l.state = 'running')", lambda n: f"{n} no limit")
per_queue("queue.waiting", f"count(*) filter (where {WAITS} <= now())", str)
per_queue("queue.later", f"count(*) filter (where {WAITS} > now())", str)
per_queue(
    "queue.oldest_wait",
    f"extract(epoch from now() - min(l.ready_at) filter (where {WAITS} <= now()))",
    lambda age: "–" if age is None else length(float(age)),
)


@figure("queue.count", text_of("queue.count"))
async def queues(seeded: Seeded, _page: Page) -> str:
    return counted(await seeded.value("select count(*) from rota.queues"), "queue")


# The calendar: tomorrow's ticks, computed by the database.

TICKS: Final = """
with days as (
    select $1::timestamptz as low, $2::timestamptz as high
),
minutes as (
    select m, m at time zone 'Europe/Berlin' as berlin
    from days, generate_series(low, high - interval '1 min', '1 min') as m
),
every as (
    select j.name, t.at from rota.jobs as j, days,
        lateral (
            select (j.schedule -> 'every' ->> 'anchor')::timestamptz as anchor,
                (j.schedule -> 'every' ->> 'interval')::interval as step
        ) as e,
        lateral generate_series(anchor, high, step) as t (at)
    where j.schedule ? 'every' and t.at >= low and t.at < high
)
select name, at from every
union
select j.name, m from rota.jobs as j, minutes
where
    (j.name = 'hourly' and extract(minute from m) = 0)
    or (j.name like 'herd %' and extract(minute from m)::integer % 5 = 0)
    or (j.name in ('nightly', 'combined') and to_char(berlin, 'HH24:MI') = '02:30')
    or (j.name = 'combined' and to_char(berlin, 'HH24:MI') = '09:00')
"""


def tomorrow(seeded: Seeded) -> tuple[datetime, datetime]:
    day = (seeded.now.astimezone(BERLIN) + timedelta(days=1)).date()
    start = datetime(day.year, day.month, day.day, tzinfo=BERLIN)
    return start, datetime(day.year, day.month, day.day, 23, 59, tzinfo=BERLIN) + timedelta(
        minutes=1
    )


async def ticks(seeded: Seeded) -> list[Any]:
    return list(await seeded.rows(TICKS, *tomorrow(seeded)))


async def cells(seeded: Seeded) -> dict[datetime, int]:
    found: dict[datetime, int] = {}
    for row in await ticks(seeded):
        minute = row["at"].replace(second=0, microsecond=0)
        found[minute] = found.get(minute, 0) + 1
    return found


async def heat(_seeded: Seeded, page: Page) -> dict[str, str]:
    titles = page.locator('[data-figure="calendar.cells"] rect title')
    said = [text.rpartition(": ") for text in await titles.all_text_contents()]
    return {moment: told for moment, _, told in said if not told.startswith("0 ")}


@figure("calendar.cells", heat)
async def heat_wanted(seeded: Seeded, _page: Page) -> dict[str, str]:
    return {
        wall(at, "%Y-%m-%d %H:%M"): counted(number, "tick")
        for at, number in (await cells(seeded)).items()
    }


@figure("calendar.summary", text_of("calendar.summary"))
async def summary(seeded: Seeded, _page: Page) -> str:
    found = await ticks(seeded)
    return f"{counted(len(found), 'tick')} of {counted(len({row['name'] for row in found}), 'job')}"


@figure("calendar.quiet", text_of("calendar.quiet"))
async def quiet(seeded: Seeded, _page: Page) -> str:
    # One of the jobs fires every few seconds.
    assert len(await cells(seeded)) == 24 * 60
    return "No quiet window of ten minutes or more."


@figure("calendar.busiest", texts_of("calendar.busiest"))
async def herds(seeded: Seeded, _page: Page) -> list[str]:
    fullest = sorted((await cells(seeded)).values(), reverse=True)[:5]
    return [counted(number, "tick") for number in fullest]


@figure("calendar.job", texts_of("calendar.job"))
async def jobs_at_nine(seeded: Seeded, _page: Page) -> list[str]:
    nine = nine_of(seeded)
    numbers: dict[str, int] = {}
    for row in await ticks(seeded):
        if nine <= row["at"] < nine + timedelta(minutes=1):
            numbers[row["name"]] = numbers.get(row["name"], 0) + 1
    return [counted(number, "tick") for number in sorted(numbers.values(), reverse=True)]


def nine_of(seeded: Seeded) -> datetime:
    return tomorrow(seeded)[0].replace(hour=9).astimezone(UTC)


# The job page.

OF_HOURLY: Final = "job_id = (select id from rota.jobs where name = 'hourly')"


@figure("job.ticks", text_of("job.ticks"))
async def tally(seeded: Seeded, _page: Page) -> str:
    rows = await seeded.rows(
        "select state::text, count(*) as number from ("
        f"select state, trigger from rota.runs where {OF_HOURLY}"
        f" union all select state, trigger from rota.live_runs where {OF_HOURLY}"
        ") as all_of_it where trigger = 'tick' group by 1 order by 2 desc"
    )
    number = sum(row["number"] for row in rows)
    parts = ", ".join(f"{row['number']} {row['state']}" for row in rows)
    return f"Last {counted(number, 'tick')}: {parts}."


@figure("job.version", text_of("job.version"))
async def version(seeded: Seeded, _page: Page) -> str:
    edits = await seeded.value(
        "select count(*) from rota.audit where action = 'job.update' and thing_id = $1",
        f"job_{seeded.jobs['hourly'].hex}",
    )
    return str(1 + edits)


@figure("job.next_run", text_of("job.next_run"))
async def next_run(seeded: Seeded, _page: Page) -> str:
    return wall(await seeded.value(f"select fire_at from rota.cursors where {OF_HOURLY}"))


RAN: Final = 68


@figure("job.durations", points_of("job.durations", RAN))
async def durations(seeded: Seeded, _page: Page) -> list[str]:
    rows = await seeded.rows(
        "select started_at, state::text, extract(epoch from finished_at - started_at) as took"
        f" from rota.runs where {OF_HOURLY} and started_at is not null"
    )
    assert len(rows) == RAN
    return sorted(
        f"{wall(row['started_at'])}: {row['state']} after {length(float(row['took']))}"
        for row in rows
    )


async def listed_times(_seeded: Seeded, page: Page) -> list[str]:
    items = page.locator('[data-figure="job.next_times"] time')
    return [each.strip() for each in await items.all_inner_texts()]


@figure("job.next_times", listed_times)
async def next_times(seeded: Seeded, _page: Page) -> list[str]:
    rows = await seeded.rows(
        "select date_trunc('hour', now()) + n * interval '1 hour' as at"
        " from generate_series(1, 8) as n"
    )
    return [wall(row["at"]) for row in rows]


# The tests.


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def seeded(
    server: Embedded, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Seeded]:
    url = await clone_url(server.url)
    async with serving(url, tmp_path_factory.mktemp("figures")) as api:
        yield await seed(api)
    await drop(server.url, url)


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(
    seeded: Seeded, chromium: Browser, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Visit]:
    site = Site(
        url=seeded.api.url,
        folder=tmp_path_factory.getbasetemp(),
        platform=seeded.api.platform,
        process=0,
    )
    async with visiting(chromium, site, key=seeded.api.platform.key) as visit:
        yield visit


async def compare(seeded: Seeded, page: Page, prefix: str) -> None:
    """Compares all figures of a page with the database; none is missing and none is unknown."""
    named = {name for name in FIGURES if name.startswith(f"{prefix}.")}
    for name in named:
        await expect(page.locator(f'[data-figure="{name}"]').first).to_be_visible()
    elements = await page.locator("[data-figure]").all()
    found = {str(await each.get_attribute("data-figure")) for each in elements}
    assert found == named
    for name in sorted(named):
        shown, wanted = FIGURES[name]
        # An age is read before and after the page; the page may show either.
        before = await wanted(seeded, page)
        told = await shown(seeded, page)
        after = await wanted(seeded, page)
        assert is_same(name, told, before) or is_same(name, told, after), (name, told, after)


# Figures that grow over time, and how far a page may be behind on a busy machine. The seeded ages
# are much further apart.
AGES: Final = {
    "overview.waiting.note",
    "overview.late_ticks.note",
    "overview.late",
    "overview.running",
    "queue.oldest_wait",
}
BEHIND_S: Final = 120
UNITS: Final = {"d": 86_400, "h": 3600, "min": 60, "s": 1}


def seconds_in(text: str) -> int:
    return sum(
        int(number) * UNITS[unit] for number, unit in re.findall(r"(\d+) (d|h|min|s)\b", text)
    )


def placed(texts: Any) -> dict[object, str]:
    if isinstance(texts, dict):
        return dict(texts)
    return dict(enumerate([texts] if isinstance(texts, str) else texts))


def is_as_old(told: Any, wanted: Any) -> bool:
    """Whether texts differ only in an age, and by no more than a page may be behind."""
    texts, others = placed(told), placed(wanted)
    return texts.keys() == others.keys() and all(
        abs(seconds_in(text) - seconds_in(others[place])) <= BEHIND_S
        and (text == "–") == (others[place] == "–")
        for place, text in texts.items()
    )


def is_same(name: str, told: Any, wanted: Any) -> bool:
    if name in AGES:
        return is_as_old(told, wanted)
    if name.startswith("overview.chart"):
        told = dict(each.split(": ", 1) for each in told)
    if name == "overview.chart.lag":
        # Percentiles are accurate to 5 %; the maximum, at the end of the text, is exact.
        told = {at: text.rpartition("max ")[2] for at, text in told.items()}
    if name.startswith("overview.chart"):
        # A new minute may have started meanwhile.
        shared = told.keys() & wanted.keys()
        return len(shared) >= MINUTES - 1 and all(told[at] == wanted[at] for at in shared)
    if name == "queue.running":
        return bool({queue: text.replace("\n", " ") for queue, text in told.items()} == wanted)
    return bool(told == wanted)


async def test_the_overview_equals_the_database(seeded: Seeded, visitor: Visit) -> None:
    await compare(seeded, await visitor.open("/"), "overview")


async def test_the_queues_equal_the_database(seeded: Seeded, visitor: Visit) -> None:
    await compare(seeded, await visitor.open("/queues"), "queue")


async def test_the_calendar_equals_the_database(seeded: Seeded, visitor: Visit) -> None:
    day, nine = tomorrow(seeded)[0].date(), nine_of(seeded)
    path = f"/calendar?day={day}&at={nine:%Y-%m-%dT%H:%M:%S}.000Z"

    await compare(seeded, await visitor.open(path), "calendar")


async def test_the_job_page_equals_the_database(seeded: Seeded, visitor: Visit) -> None:
    await compare(seeded, await visitor.open(seeded.path("hourly")), "job")


async def test_a_page_shows_times_in_one_zone_and_names_it(seeded: Seeded, visitor: Visit) -> None:
    """The sentence in the page head and the details agree, in the browser's zone and in UTC."""
    due = await seeded.value(f"select fire_at from rota.cursors where {OF_HOURLY}")
    page = await visitor.open(seeded.path("hourly"))
    zone = page.get_by_role("button", name="Europe/Berlin")
    await expect(zone).to_be_visible()
    head = page.locator(".page-head time")
    await expect(head).to_have_text(wall(due))
    await expect(page.locator('[data-figure="job.next_run"]')).to_have_text(wall(due))

    await zone.click()
    await page.get_by_role("menuitem", name="UTC", exact=True).click()

    await expect(page.get_by_role("button", name="UTC")).to_be_visible()
    told = f"{due.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
    await expect(head).to_have_text(told)
    await expect(page.locator('[data-figure="job.next_run"]')).to_have_text(told)


async def test_the_requeue_dialog_counts_exactly_the_group_of_dead_letters(
    seeded: Seeded, visitor: Visit
) -> None:
    """Two messages of one task and one type of error are two groups."""
    number = await seeded.value(
        "select count(*) from rota.runs where reason ->> 'message' ~ '^port [0-9]+ is not open$'"
    )
    page = await visitor.open("/dead-letters")
    row = page.get_by_role("row").filter(has_text=re.compile(r"port \d+ is not open"))
    await expect(row).to_contain_text(str(number))
    await row.get_by_role("link").first.click()

    await expect(page.get_by_role("table").get_by_role("row")).to_have_count(number + 1)
    await expect(page.locator('[data-figure="dead.count"]')).to_have_text(str(number))
    await page.get_by_role("button", name=f"Requeue {number} runs").click()
    matched = page.locator('[data-figure="dead.matched"]')
    await expect(matched).to_have_text(counted(number, "dead letter"))
