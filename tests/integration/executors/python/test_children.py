"""Handlers in child processes: what they get, say and return (E8, E13, E14, F23)."""

import os
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.integration.executors.python.conftest import Family
from tests.unit.executors.python.recording import Recording

from rota.core.errors import InvalidInput, LeaseLost
from rota.core.executor import Stream
from rota.core.outcome import Failed, Failure, Snoozed, Succeeded
from rota.executors.python import MB

LARGE = 2**70


async def test_a_handler_runs_elsewhere_and_knows_its_attempt(family: Family):
    facts = await family.result("facts", {"n": LARGE, "of": [1.5, None, "ä"]})

    assert facts.pop("pid") != os.getpid()
    assert facts == {
        "payload": [{"n": LARGE, "of": [1.5, None, "ä"]}] * 2,
        "run": str(Recording.run_id),
        "attempt": 3,
        "key": "key-1",
        "due": "2030-01-01T09:00:05Z",
        "timeout": "PT300S",
        "cancelled": False,
    }


async def test_a_payload_is_checked_before_a_process_hears_of_it(family: Family):
    with pytest.raises(InvalidInput):
        await family.run("facts", "wrong")


async def test_a_child_is_used_again(family: Family):
    assert await family.result("pid") == await family.result("pid")


async def test_a_child_has_limits_and_a_group_of_its_own(family: Family):
    assert await family.result("limits") == {
        "RLIMIT_DATA": 200 * MB,
        "RLIMIT_CORE": 0,
        "RLIMIT_NOFILE": 256,
        "own group": True,
    }


@pytest.mark.parametrize("path", [{}, {"PYTHONPATH": "/somewhere"}], ids=["without", "with"])
async def test_programs_of_a_handler_get_the_search_path_of_the_worker(
    family: Family, path: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    for name, value in path.items():
        monkeypatch.setenv(name, value)

    assert await family.result("environment") == path


async def test_a_child_inherits_what_it_needs_to_start_and_nothing_else(
    family: Family, monkeypatch: pytest.MonkeyPatch
):
    kept = {"LC_TIME": "C", "TZ": "UTC", "ROTA_URL": "http://127.0.0.1:7070"}
    secret = {"APP_URL": "postgresql://app:pw@db/app", "AWS_SECRET_ACCESS_KEY": "s"}
    own = {"ROTA_DATABASE_URL": "postgresql://rota:pw@db/rota", "ROTA_API_KEY": "rota_k"}
    for name, value in (kept | secret | own).items():
        monkeypatch.setenv(name, value)

    found = await family.result("variables")

    assert kept.items() <= found.items()
    assert "PATH" in found
    assert not found.keys() & (secret.keys() | own.keys())
    assert not [name for name in found if name.startswith(("PYTEST_", "COV_"))]


async def test_a_variable_that_the_child_does_not_have_is_explained(
    family: Family, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("APP_URL", "postgresql://app:pw@db/app")

    withheld = await family.failure("variable", "APP_URL")
    absent = await family.failure("variable", "NOBODY_HAS_IT")

    assert withheld.failure.type == "KeyError"
    assert "worker.pass_environment" in withheld.failure.message
    assert "pw" not in withheld.failure.message
    assert absent.failure.message == "'NOBODY_HAS_IT'"


async def test_a_child_cannot_gain_privileges(family: Family):
    assert await family.result("privileges") == "1"


@pytest.mark.parametrize("kind", ["walk", "async walk"])
async def test_a_handler_in_a_child_resumes_tells_and_saves(family: Family, kind: str):
    context = Recording(checkpoint={"at": 7})

    outcome = await family.run(kind, context=context)

    assert outcome == Succeeded(result={"at": 7})
    assert (0.5, "half") in context.told
    assert max(fraction for fraction, _ in context.told) <= 1
    assert context.stored == {"at": 8}


@pytest.mark.parametrize(
    ("refusal", "seen"),
    [
        (LeaseLost("attempt", 3), "LeaseLost: lost the lease of attempt 3"),
        (OSError("the database is away"), "RuntimeError: OSError: the database is away"),
    ],
)
async def test_a_checkpoint_that_is_refused_is_refused_in_the_child(
    family: Family, refusal: Exception, seen: str
):
    context = Recording()
    context.refusal = refusal

    outcome = await family.run("save", context=context)

    assert isinstance(outcome, Succeeded)
    assert str(outcome.result).startswith(seen)


async def test_everything_a_child_says_is_in_the_log_before_it_returns(family: Family):
    context = Recording()

    assert await family.run("speak", context=context) == Succeeded()

    said = context.said(Stream.STDOUT)
    for words in ("printed\n", "written\n", "from a program\n", "last words, unfinished"):
        assert words in said
    assert context.said(Stream.STDERR) == "complained\n"
    assert context.said(Stream.RECORD) == "INFO app: recorded\nWARNING app: from a thread\n"


async def test_a_child_that_prints_without_end_needs_no_memory_here(family: Family):
    context = Recording()
    await family.run("loud", 1)
    before = resident()

    assert await family.run("loud", 200, context=context) == Succeeded()

    assert context.size == 200_000_000
    assert resident() - before < 16 * MB


@pytest.mark.parametrize("kind", ["raise", "async raise"])
@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ("Fail", Failed(failure=Failure(type="Fail", message="never"), final=True)),
        ("CardRefused", Failed(failure=Failure(type="CardRefused", message="stolen"), final=True)),
        (
            "Retry",
            Failed(failure=Failure(type="Retry", message="busy"), retry_after=timedelta(seconds=9)),
        ),
        ("Snooze", Snoozed(delay=timedelta(minutes=2))),
    ],
)
async def test_what_an_exception_means_survives_the_way(
    family: Family, kind: str, error: str, outcome: Any
):
    ended = await family.run(kind, error)

    if isinstance(ended, Failed):
        assert "app:" in (ended.failure.frame or "")
        ended = replace(ended, failure=replace(ended.failure, frame=None))
    assert ended == outcome


async def test_invalid_input_is_a_final_failure(family: Family):
    failed = await family.failure("raise", "InvalidInput")

    assert failed.final
    assert failed.failure.type == "InvalidInput"
    assert "a positive number" in failed.failure.message


@pytest.mark.parametrize("kind", ["raise", "async raise"])
@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("ValueError", "no such apple"),
        ("SystemExit", "3"),
        ("KeyboardInterrupt", ""),
        ("Unspeakable", "an error that cannot be shown"),
    ],
)
async def test_any_other_exception_is_a_failure_with_a_traceback_and_ends_nothing(
    family: Family, kind: str, error: str, message: str
):
    context = Recording()
    before = await family.result("pid")

    failed = await family.failure(kind, error, context=context)

    assert (failed.failure.type, failed.failure.message) == (error, message)
    assert failed == Failed(failure=failed.failure)
    assert "raise ERRORS[payload]" in context.said(Stream.ERROR)
    (raised,) = failed.failure.traceback
    assert (failed.failure.frame or "").rpartition(":")[2] == raised.frames[-1].function
    assert [frame.code for frame in raised.frames if frame.is_own] == ["raise ERRORS[payload]"]
    assert await family.result("pid") == before


async def test_endless_recursion_is_a_failure(family: Family):
    context = Recording()

    failed = await family.failure("recurse", context=context)

    assert failed.failure.type == "RecursionError"
    assert 0 < len(context.said(Stream.ERROR)) < 20_000


@pytest.mark.parametrize(
    ("returned", "type_"),
    [("object", "TypeError"), ("large", "InvalidInput"), ("coroutine", "Fail")],
)
async def test_a_result_that_cannot_be_sent_is_a_failure(family: Family, returned: str, type_: str):
    before = await family.result("pid")

    failed = await family.failure("return", returned)

    assert failed.failure.type == type_
    assert await family.result("pid") == before


async def test_a_thread_that_was_left_behind_does_not_speak_for_the_next_run(family: Family):
    context = Recording()
    await family.run("leave a thread")

    outcome = await family.run("let it speak", context=context)

    assert outcome == Succeeded(result=["this attempt is over", "cancelled"])
    assert (context.said(), context.told, context.stored) == ("", [], None)


async def test_a_transaction_is_refused_in_a_child(family: Family):
    failed = await family.failure("transaction")

    assert failed.final
    assert "without isolation" in failed.failure.message


@pytest.mark.parametrize(
    ("source", "type_", "words"),
    [
        ("nowhere.to_be_found:handlers", "ModuleNotFoundError", "nowhere"),
        ("json:dumps", "InvalidInput", "a Handlers"),
        ("json:nothing", "AttributeError", "nothing"),
    ],
)
async def test_handlers_that_cannot_be_imported_are_a_failure(source: str, type_: str, words: str):
    async with Family(source=source) as family:
        failed = await family.failure("pid")

    assert failed.failure.type == type_
    assert words in failed.failure.message


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
