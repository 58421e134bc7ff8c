"""`rota backfill` and `rota backfills`, against a whole installation (S13, I4)."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.support.installation import Installation, until

from rota.core.time.moments import to_rfc3339
from rota.runtime.clock import SystemClock


@pytest.fixture
def name() -> str:
    return f"past {uuid4().hex[:8]}"


def a_job(installation: Installation, name: str, *words: str) -> None:
    made = installation.rota("jobs", "create", name, "--cron", "* * * * *", *words)
    assert made.code == 0, made.err


GREET = ("--kind", "kit.greet", "--payload", '{"name": "Ann"}')


def test_a_stretch_of_the_past_is_counted_begun_and_watched_to_its_end(
    installation: Installation, name: str
) -> None:
    rota = installation.rota
    a_job(installation, name, *GREET)
    # Between two minutes, and told by the clock: the minute may be another when it is asked again.
    since = (SystemClock().now() - timedelta(minutes=31)).replace(second=30, microsecond=0)
    times = ("--since", to_rfc3339(since), "--until", to_rfc3339(since + timedelta(minutes=20)))
    stretch = ("backfill", name, *times, "--at-once", "10")

    counted = rota(*stretch, "--dry-run")
    asked = rota(*stretch)
    watched = rota(*stretch, "--yes", "--watch")
    again = rota(*stretch, "--yes")
    (listed,) = rota("backfills", "list", "--job", name, "--json").json
    shown = rota("backfills", "show", listed["backfill_id"])

    assert counted.out == "20 ticks: 20 missing; 20 would run\n"
    assert (asked.code, asked.out) == (64, "")
    assert "pass --yes" in asked.err
    assert watched.code == 0, watched.err
    assert watched.lines[-1].endswith("finished, 20 of 20 done")
    assert again.out.startswith("20 ticks: 20 completed; 0 would run")
    assert (listed["status"], listed["succeeded"]) == ("finished", 20)
    assert "succeeded" in shown.out


def test_a_backfill_whose_runs_fail_says_so_and_only_they_run_again(
    installation: Installation, name: str
) -> None:
    rota = installation.rota
    a_job(installation, name, "--kind", "kit.fail", "--retries", "0")
    stretch = ("backfill", name, "--since", "15m", "--until", "10m")

    watched = rota(*stretch, "--yes", "--watch", "--json")
    failed = rota(*stretch, "--only", "failed", "--dry-run", "--json").json
    missing = rota(*stretch, "--dry-run", "--json").json

    assert (watched.code, watched.json["failed"]) == (1, 5)
    assert (failed["new"], missing["new"], missing["failed"]) == (5, 0, 5)


def test_a_backfill_is_paused_resumed_and_cancelled(
    installation: Installation, name: str, tmp_path: Path
) -> None:
    rota = installation.rota
    gate = tmp_path / "gate"
    a_job(installation, name, "--kind", "kit.steps", "--payload", f'{{"gate": "{gate}"}}')
    begun = rota("backfill", name, "--since", "2h", "--yes", "--at-once", "1", "--quiet")
    (id_,) = begun.lines

    def stands(key: str, value: Any) -> Any:
        return until(
            lambda: rota("backfills", "show", id_, "--json").json[key] == value, f"{key} {value}"
        )

    stands("made", 100)
    paused = rota("backfills", "pause", id_)
    twice = rota("backfills", "pause", id_)
    resumed = rota("backfills", "resume", id_, "--json").json
    second = rota("backfill", name, "--since", "1h", "--yes", "--only", "all")
    asked = rota("backfills", "cancel", id_)
    cancelled = rota("backfills", "cancel", id_, "--running", "cancel", "--yes")
    stands("status", "cancelled")
    watched = rota("backfills", "watch", id_)
    gate.touch()

    assert paused.out.startswith(f"Paused {id_}; ")
    assert (twice.code, twice.err) == (
        1,
        "rota: backfill is paused; only running backfills can be paused\n",
    )
    assert resumed["status"] == "running"
    assert second.code == 1
    assert id_ in second.err
    assert asked.code == 64
    assert cancelled.out == f"Backfill {id_} is cancelling\n"
    assert watched.code == 1


def test_mistakes_are_told_in_one_line(installation: Installation, name: str) -> None:
    rota = installation.rota
    a_job(installation, name, *GREET)

    said = [
        rota("backfill", name),
        rota("backfill", name, "--since", "yesterday"),
        rota("backfill", name, "--since", "1h", "--order", "random"),
        rota("backfill", name, "--since", "1h", "--payload", "{"),
        rota("backfill", name, "--since", "1h", "--until", "2h"),
        rota("backfills", "pause"),
    ]
    unknown = [
        rota("backfill", f"{name} too", "--since", "1h"),
        rota("backfills", "show", "bf_" + "0" * 32),
        rota("backfills", "show", "what"),
    ]

    assert [(each.code, each.out) for each in said] == [(64, "")] * len(said)
    assert [(each.code, each.out) for each in unknown] == [(66, "")] * len(unknown)
    assert all(len(each.err.strip().splitlines()) <= 2 for each in (*said, *unknown))
