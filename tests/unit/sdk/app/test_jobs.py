"""A declared function is still a function, and can be submitted (I3)."""

import logging
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

import rota
from rota.core.errors import InvalidInput
from rota.core.executor import Stream
from rota.sdk.testing import RecordingContext


@dataclass
class Made:
    job_id: str
    run_id: str | None
    deduplicated: bool = False


@dataclass
class Run:
    run_id: str
    status: str
    result: Any = None
    error_message: str | None = None


@dataclass
class Book:
    """A server that only keeps the books: what was asked for, and what the test says came of it."""

    drafts: list[Mapping[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    def create(self, draft: Mapping[str, Any], *, idempotency_key: str | None) -> Made:
        self.drafts.append(draft)
        self.keys.append(idempotency_key)
        return Made("job_1", None if "schedule" in draft else "run_1")

    def create_many(self, drafts: Sequence[Mapping[str, Any]]) -> list[Made]:
        return [self.create(draft, idempotency_key=None) for draft in drafts]

    def run(self, run_id: str) -> Run:  # noqa: ARG002 — there is one
        return self.runs.pop(0) if len(self.runs) > 1 else self.runs[0]

    def latest_run(self, job_id: str) -> str | None:  # noqa: ARG002
        return self.runs[0].run_id if self.runs else None

    def cancel(self, run_id: str, *, reason: str | None) -> None:
        self.runs.append(Run(run_id, "cancelled", error_message=reason))


@pytest.fixture
def book() -> Book:
    return Book()


@pytest.fixture
def app(book: Book) -> rota.App:
    made = rota.App("billing", retries=5, labels={"team": "money"})
    made.sender = book
    return made


def test_a_job_is_called_like_the_function_that_it_is(app: rota.App) -> None:
    @app.job(cron="0 9 * * 1-5", args={"amount": 1})
    def charge(amount: int) -> int:
        """Take money."""
        return amount * 2

    assert charge(4) == 8
    assert (charge.__name__, charge.__doc__) == ("charge", "Take money.")


def test_a_submission_carries_arguments_and_options(app: rota.App, book: Book) -> None:
    @app.job(queue="slow", timeout="5m", unique={"key": "order:{args.order}"})
    def charge(order: str, amount: int = 3) -> None: ...

    submitted = charge.submit("o-1")

    assert (submitted.job_id, submitted.run_id) == ("job_1", "run_1")
    assert book.drafts == [
        {
            "kind": "billing.charge",
            "payload": {"order": "o-1"},
            "queue": "slow",
            "timeout": "5m",
            "retries": 5,
            "labels": {"team": "money"},
            "unique": {"key": "order:{args.order}"},
        }
    ]


def test_a_later_submission_says_when(app: rota.App, book: Book) -> None:
    @app.job()
    def charge() -> None: ...

    charge.at(datetime(2031, 1, 1, tzinfo=UTC))
    charge.after("10m")

    assert [draft["schedule"] for draft in book.drafts] == [
        {"at": "2031-01-01T00:00:00Z"},
        {"after": "10m"},
    ]
    with pytest.raises(InvalidInput, match=r"when: .* an instant with an offset"):
        charge.at("2031-01-01T00:00:00")
    with pytest.raises(InvalidInput, match=r"schedule.after: 'soon' is invalid"):
        charge.after("soon")


def test_options_are_for_one_submission_only(app: rota.App, book: Book) -> None:
    @app.job()
    def charge() -> None: ...

    urgent = charge.options(priority="high", name="now", idempotency_key="k-1", retries=0)
    urgent.submit()
    charge.submit()

    assert (book.drafts[0]["priority"], book.drafts[0]["name"]) == ("high", "now")
    assert [draft["retries"] for draft in book.drafts] == [0, 5]
    assert "priority" not in book.drafts[1]
    assert book.keys == ["k-1", None]
    with pytest.raises(InvalidInput, match="did you mean priority"):
        charge.options(priorty="high")  # type: ignore[call-arg]


def test_many_are_submitted_all_or_none(app: rota.App, book: Book) -> None:
    @app.job()
    def charge(amount: int) -> None: ...

    with pytest.raises(InvalidInput, match=r"calls\[1\].amount: 'x' is invalid"):
        charge.submit_many([(1,), {"amount": "x"}])
    assert book.drafts == []
    with pytest.raises(InvalidInput, match="at most 1000 calls per submission"):
        charge.submit_many([(1,)] * 1001)
    with pytest.raises(InvalidInput, match="a tuple of arguments, or a mapping"):
        charge.submit_many(["12"])

    made = charge.submit_many([(1,), {"amount": 2}])

    assert len(made) == 2
    assert [draft["payload"] for draft in book.drafts] == [{"amount": 1}, {"amount": 2}]
    assert charge.submit_many([]) == []


def test_wrong_arguments_are_refused_before_anything_is_sent(app: rota.App, book: Book) -> None:
    @app.job()
    def charge(amount: int) -> None: ...

    with pytest.raises(InvalidInput, match="amount: 'x' is invalid: expected int, got str"):
        charge.submit("x")  # type: ignore[arg-type]
    assert book.drafts == []


def test_a_result_is_waited_for(app: rota.App, book: Book) -> None:
    @app.job()
    def count() -> int: ...  # type: ignore[empty-body]

    book.runs = [Run("run_1", "queued"), Run("run_1", "running"), Run("run_1", "succeeded", 3)]

    assert count.submit().result(timeout="10s") == 3


async def test_async_code_waits_without_blocking(app: rota.App, book: Book) -> None:
    @app.job()
    async def count() -> int: ...  # type: ignore[empty-body]

    book.runs = [Run("run_1", "queued"), Run("run_1", "succeeded", 3)]
    submitted = await count.after_async("1h")

    assert await submitted.result_async(timeout=10) == 3


def test_a_run_that_failed_is_an_error_that_says_why(app: rota.App, book: Book) -> None:
    @app.job()
    def count() -> int: ...  # type: ignore[empty-body]

    book.runs = [Run("run_1", "dead", error_message="ValueError: no money")]

    with pytest.raises(rota.RunFailed, match=r"^run run_1 is dead: ValueError: no money"):
        count.submit().result()


def test_a_result_that_does_not_come_in_time_is_an_error_and_the_run_goes_on(
    app: rota.App, book: Book
) -> None:
    @app.job()
    def count() -> int: ...  # type: ignore[empty-body]

    book.runs = [Run("run_1", "running")]

    with pytest.raises(rota.NotFinished, match=r"^job job_1 has no result"):
        count.submit().result(timeout=0)
    with pytest.raises(TimeoutError):
        count.submit().result(timeout="50ms")


def test_a_job_without_an_app_is_collected_later() -> None:
    @rota.job(cron="0 9 * * *")
    def report() -> None: ...

    with pytest.raises(InvalidInput, match="the job belongs to no app"):
        report.draft()

    app = rota.App("billing", jobs=[report])

    assert report.draft() == {"kind": "billing.report", "payload": {}}
    assert [said["name"] for said in app.declarations()] == ["billing.report"]


def test_a_module_is_included_with_all_its_jobs(app: rota.App) -> None:
    @rota.job()
    def one() -> None: ...
    @rota.job(kind="special")
    def two() -> None: ...

    module = types.ModuleType("shop")
    vars(module).update(one=one, two=two, alias=one, other=3)

    app.include(module)
    app.include(module)

    assert sorted(job.kind for job in app) == ["billing.one", "special"]
    assert app.handlers.kinds == ("billing.one", "special")
    with pytest.raises(
        InvalidInput, match=r"a module with at least one function declared with @rota.job"
    ):
        app.include(types.ModuleType("empty"))


def test_two_jobs_cannot_be_the_same(app: rota.App) -> None:
    @app.job(kind="a", name="nightly", cron="0 1 * * *")
    def one() -> None: ...

    with pytest.raises(InvalidInput, match="kind already has a handler"):

        @app.job(kind="a")
        def two() -> None: ...

    with pytest.raises(InvalidInput, match="the job of function one has this name"):

        @app.job(kind="b", name="nightly", cron="0 2 * * *")
        def three() -> None: ...

    with pytest.raises(
        InvalidInput, match="it already belongs to app 'billing'; a job has one app"
    ):
        rota.App("shop", jobs=[one])
    with pytest.raises(InvalidInput, match="it is already a job"):
        app.job()(one)
    assert len(list(app)) == 1


def test_the_arguments_of_a_schedule_are_checked_where_they_are_declared(app: rota.App) -> None:
    with pytest.raises(InvalidInput, match=r"args.arguments: .* missing a required argument"):

        @app.job(cron="0 1 * * *")
        def one(amount: int) -> None: ...

    with pytest.raises(InvalidInput, match=r"args.amount: 'x' is invalid"):

        @app.job(cron="0 1 * * *", args={"amount": "x"})
        def two(amount: int) -> None: ...

    assert list(app) == []


def test_a_decorator_without_parentheses_is_told_so(app: rota.App) -> None:
    for decorate in (app.job, rota.job):
        with pytest.raises(InvalidInput, match=r"add parentheses: @app.job\(\)"):

            @decorate  # type: ignore[arg-type]
            def one() -> None: ...


async def test_a_generator_is_the_source_of_a_map(app: rota.App) -> None:
    @app.job()
    async def letters(ctx: rota.Context, text: str):
        for letter in text:
            yield f"{letter}{ctx.attempt}"

    @app.job()
    def digits(number: int):
        yield from range(number)

    context = RecordingContext(kind="billing.letters")
    for name, payload in (("letters", {"text": "ab"}), ("digits", {"number": 2})):
        handler = app.handlers.find(f"billing.{name}")
        assert handler.check is not None
        given = SyncSide(context) if name == "digits" else context
        called = handler.call(given, handler.check(payload))
        assert (called if name == "digits" else await called) == {"items": 2}

    assert context.handed_out_items == ["a1", "b1", 0, 1]


class SyncSide:
    """As a `def` job sees it: nothing is awaited."""

    def __init__(self, context: RecordingContext) -> None:
        self._context = context

    def hand_out(self, items: list[object]) -> None:
        self._context.handed_out_items += items


async def test_a_handler_gets_its_arguments_and_a_context_with_a_log(app: rota.App) -> None:
    @app.job()
    async def charge(ctx: rota.Context, amount: int) -> str:
        ctx.log.info("charging %s", amount)
        ctx.log.debug("not worth it")
        ctx.progress(0.5)
        return f"{ctx.kind}, attempt {ctx.attempt}"

    logging.getLogger().setLevel(logging.INFO)
    context = RecordingContext(kind="billing.charge", attempt=2)
    handler = app.handlers.find("billing.charge")
    assert handler.check is not None

    result = await handler.call(context, handler.check({"amount": 7}))

    assert result == "billing.charge, attempt 2"
    assert context.output_of(Stream.RECORD).text == "INFO billing.charge: charging 7\n"
    assert context.progress_reports == [(0.5, "")]
    assert "billing.charge" not in logging.Logger.manager.loggerDict
