"""What a failed run raised: the user's frames first, in the API and on the terminal (I4, E14)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.installation import Installation, installed

APP = """
import json

import rota

app = rota.App("shop", retries=0)


def title_of(doc):
    return doc["title"]


def read(text):
    try:
        return json.loads(text)
    except ValueError as error:
        raise RuntimeError("the feed is broken") from error


@app.job()
async def reindex() -> str:
    return title_of({})


@app.job()
def in_thread() -> None:
    read("{")


@app.job(isolation="process")
def in_process() -> None:
    read("{")


@app.job()
async def in_group() -> None:
    errors = []
    for function, given in ((read, "{"), (title_of, {})):
        try:
            function(given)
        except Exception as error:
            errors.append(error)
    raise ExceptionGroup("two steps failed", errors)


@app.job(kind="shop.leak")
async def leak(password: str) -> None:
    raise RuntimeError(f"refused: {password}") from ValueError(password)
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("shop")
    (folder / "shop.py").write_text(APP)
    with installed(folder, app="shop:app") as found:
        yield found


def failed(shop: Installation, kind: str, payload: Any = None) -> Any:
    made = shop.client.create_job(kind=f"shop.{kind}", payload=payload or {}, retries=0)
    return shop.ended(str(made.run_id))


def line_of(code: str) -> int:
    return next(number for number, line in enumerate(APP.split("\n"), 1) if code in line)


def own(error: Any) -> list[str]:
    return [frame.function for frame in error.frames if frame.is_own]


def test_the_traceback_is_a_part_of_the_run_and_of_its_attempt(shop: Installation) -> None:
    run = failed(shop, "reindex")
    (attempt,) = shop.client.list_attempts(run.run_id).items

    (error,) = run.traceback
    assert (error.relation, error.type, own(error)) == (
        "raised",
        "KeyError",
        ["reindex", "title_of"],
    )
    assert error.frames[-1].code == 'return doc["title"]'
    assert Path(error.frames[-1].file) == shop.folder / "shop.py"
    assert attempt.traceback == run.traceback
    assert run.reason == {"type": "KeyError", "message": "'title'", "frame": "shop:title_of"}


@pytest.mark.parametrize("kind", ["in_thread", "in_process"])
def test_it_is_the_same_wherever_the_handler_runs(shop: Installation, kind: str) -> None:
    run = failed(shop, kind)

    error, cause = run.traceback
    assert (error.type, own(error)) == ("RuntimeError", [kind, "read"])
    assert (cause.relation, cause.type, own(cause)) == ("cause", "JSONDecodeError", ["read"])


def test_the_members_of_a_group_are_told_with_their_causes(shop: Installation) -> None:
    run = failed(shop, "in_group")

    assert run.traceback[0].type == "ExceptionGroup"
    members = {each.type for each in run.traceback if each.relation == "member"}
    assert members == {"RuntimeError", "KeyError"}


def test_secrets_are_masked_in_a_traceback_as_in_logs(shop: Installation) -> None:
    shop.client.put_secret("vault", value="hunter2-and-more")
    run = failed(shop, "leak", {"password": "{{secret:vault}}"})
    said = shop.rota("runs", "show", run.run_id).out + shop.rota("why", run.run_id).out
    logs = shop.rota("runs", "logs", run.run_id).out

    assert run.traceback[1].message == "***"
    assert "hunter2" not in said + logs
    assert "ValueError: ***" in logs


def test_the_terminal_shows_the_own_frames_first_and_the_message_once(
    shop: Installation,
) -> None:
    run = failed(shop, "reindex")
    shown = shop.rota("runs", "show", run.run_id).out
    why = shop.rota("why", run.run_id).out

    for said in (shown, why):
        assert said.count("'title'") == 1
        inner = said.index(f"{shop.folder}/shop.py:{line_of('return doc')} in title_of")
        outer = said.index(f"{shop.folder}/shop.py:{line_of('return title_of')} in reindex")
        assert inner < outer
        assert 'return doc["title"]' in said
        assert "rota/executors" not in said
        assert f"more frames of Rota and libraries: `rota runs logs {run.run_id}`" in said


def test_the_log_has_the_traceback_as_an_error(shop: Installation) -> None:
    run = failed(shop, "in_thread")
    pieces = shop.client.get_logs(run.run_id).items

    (piece,) = [each for each in pieces if each.stream == "error"]
    assert piece.text.startswith("Traceback (most recent call last):\n")
    assert piece.text.endswith("RuntimeError: the feed is broken\n")
