"""`rota simulate` as people use it: no server, no database."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rota.cli.commands.simulate import simulate
from rota.core.errors import InvalidInput

ROTA = Path(sys.executable).with_name("rota")
USUAL = ("--from", "2026-03-28", "--to", "2026-03-31", "--tz", "Europe/Berlin")


def simulated(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [ROTA, "simulate", *words], capture_output=True, text=True, check=False, timeout=60
    )


def test_months_with_an_outage_and_two_clock_changes_are_told_in_lines() -> None:
    done = simulated(
        *("30 2 * * *", "--tz", "Europe/Berlin", "--from", "2026-03-01", "--to", "2026-12-01"),
        *("--outage", "2026-06-10T00:00/2026-06-13T06:00"),
    )

    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    assert said[0] == "At 02:30 every day, Europe/Berlin"
    assert said[1] == "Times are in Europe/Berlin."
    assert "more on time" in done.stdout
    for wanted in (
        "clocks go forward by 1 hour: 02:00 becomes 03:00",
        "clocks go back by 1 hour: 03:00 becomes 02:00",
        "moved from 02:30, which the clock jumped over",
        "02:30 occurs twice; only the first runs",
        "coalesced  3 since 2026-06-10 02:30; covered by the run of 2026-06-13 02:30",
        "caught up  starts 3 hours 30 minutes late; at 2026-06-13 06:00",
    ):
        assert wanted in done.stdout
    assert said[-1] == "271 fired, 1 caught up, 0 missed, 3 coalesced, 0 skipped"


def test_json_has_every_tick_and_totals() -> None:
    done = simulated('{"cron": "30 2 * * *", "dst": {"gap": "skip"}}', *USUAL, "--json")

    told = json.loads(done.stdout)
    assert [event["outcome"] for event in told["events"]] == ["fired", "skipped", "fired"]
    assert told["totals"]["fired"] == 2
    assert told["clock_changes"] == [{"at": "2026-03-29T01:00:00Z", "by": "PT1H"}]
    assert told["schedule"]["timezone"] == "Europe/Berlin"


def test_what_is_wrong_is_one_line_and_exit_code_64() -> None:
    done = simulated("0 2 * * *", *USUAL, "--misfire", "never")

    assert (done.returncode, done.stdout) == (64, "")
    assert done.stderr.startswith("rota: misfire.on_outage: 'never' is invalid")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "said"), [("{not json", "a cron expression or JSON"), ("61 2 * * *", "minute")]
)
def test_a_schedule_that_cannot_be_read_says_why(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        simulate(text, from_="2026-01-01", to="2026-02-01")

    assert said in str(refused.value)
