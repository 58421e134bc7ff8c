"""Every alert fires in one case and stays silent in another, decided by promtool."""

import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from rota.engine.observability.monitoring.rules import ALERTING_RULES, RECORDING_RULES, render_rules

ROOT = Path(__file__).resolve().parents[3]
INTERVAL = "15s"
Series = dict[str, str]


class AlertCase(NamedTuple):
    """Series with which an alert fires, series with which it must not, and when to look."""

    fires: Series
    stays_silent: Series
    at: str = "5m"


CASES: dict[str, AlertCase] = {
    "RotaNoScheduler": AlertCase({"rota_schedulers": "0x40"}, {"rota_schedulers": "0x3 1x40"}),
    "RotaShardsUnowned": AlertCase(
        {"rota_shards_unowned": "4x40"}, {"rota_shards_unowned": "4x2 0x40"}
    ),
    "RotaFiringLate": AlertCase(
        {"rota_fire_lag_seconds": "11x40"}, {"rota_fire_lag_seconds": "9x40"}
    ),
    "RotaQueueWithoutWorker": AlertCase(
        {
            'rota_runs_waiting{queue="mail"}': "3x40",
            'rota_queue_workers{queue="mail"}': "0x40",
        },
        {
            'rota_runs_waiting{queue="mail"}': "3x40",
            'rota_queue_workers{queue="mail"}': "1x40",
        },
    ),
    "RotaWaitHigh": AlertCase(
        {
            'rota_run_wait_seconds_bucket{queue="mail",le="60"}': "0x80",
            'rota_run_wait_seconds_bucket{queue="mail",le="300"}': "0+10x80",
            'rota_run_wait_seconds_bucket{queue="mail",le="+Inf"}': "0+10x80",
        },
        {
            'rota_run_wait_seconds_bucket{queue="mail",le="60"}': "0+10x80",
            'rota_run_wait_seconds_bucket{queue="mail",le="300"}': "0+10x80",
            'rota_run_wait_seconds_bucket{queue="mail",le="+Inf"}': "0+10x80",
        },
        at="18m",
    ),
    "RotaFailureRatio": AlertCase(
        {
            'rota_run_duration_seconds_count{task="bill",outcome="succeeded"}': "0+8x300",
            'rota_run_duration_seconds_count{task="bill",outcome="failed"}': "0+2x300",
        },
        # Too few attempts to judge.
        {
            'rota_run_duration_seconds_count{task="bill",outcome="succeeded"}': "0x120 4x180",
            'rota_run_duration_seconds_count{task="bill",outcome="failed"}': "0x120 9x180",
        },
        at="65m",
    ),
    "RotaDeadLettersGrow": AlertCase(
        {'rota_dead_letters_total{state="dead"}': "0x10 1x30"},
        {'rota_dead_letters_total{state="dead"}': "7x40"},
    ),
    "RotaDatabaseDown": AlertCase(
        {'rota_database_up{instance="a"}': "0x40"}, {'rota_database_up{instance="a"}': "1x9 0 1x30"}
    ),
    "RotaConnectionsNearMax": AlertCase(
        {
            'rota_database_connections{state="idle"}': "80x60",
            'rota_database_connections{state="active"}': "15x60",
            "rota_database_connections_max": "100x60",
        },
        {
            'rota_database_connections{state="idle"}': "60x60",
            'rota_database_connections{state="active"}': "15x60",
            "rota_database_connections_max": "100x60",
        },
        at="10m",
    ),
    "RotaClockSkewed": AlertCase(
        {'rota_clock_offset_seconds{instance="a"}': "-3x40"},
        {'rota_clock_offset_seconds{instance="a"}': "-1x40"},
    ),
    "RotaRelayBehind": AlertCase(
        {'rota_relay_lag_seconds{relay="relay"}': "61x40"},
        {
            'rota_relay_lag_seconds{relay="relay"}': "1x40",
            'rota_relay_lag_seconds{relay="sink:kafka"}': "900x40",
        },
    ),
    "RotaChannelFailing": AlertCase(
        {'rota_notifications_total{channel="ops",outcome="failed"}': "0+1x60"},
        {'rota_notifications_total{channel="ops",outcome="sent"}': "0+1x60"},
        at="10m",
    ),
    "RotaTargetDown": AlertCase(
        {'up{job="rota",instance="a"}': "0x40"}, {'up{job="node",instance="a"}': "0x40"}
    ),
    "RotaLoopBlocked": AlertCase(
        {'rota_loop_lag_seconds{instance="a"}': "2x40"},
        {'rota_loop_lag_seconds{instance="a"}': "0.2x40"},
    ),
    "RotaVersionSkew": AlertCase(
        {
            'rota_build_info{version="0.2.0",instance="a"}': "1x400",
            'rota_build_info{version="0.3.0",instance="b"}': "1x400",
        },
        {
            'rota_build_info{version="0.3.0",instance="a"}': "1x400",
            'rota_build_info{version="0.3.0",instance="b"}': "1x400",
        },
        at="90m",
    ),
}


def run_promtool(folder: Path, *tests: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    (folder / "rota.rules.yml").write_text(render_rules())
    file = folder / "tests.yml"
    file.write_text(
        yaml.safe_dump(
            {
                "rule_files": ["rota.rules.yml"],
                "evaluation_interval": INTERVAL,
                "tests": list(tests),
            }
        )
    )
    return subprocess.run(
        ["promtool", "test", "rules", str(file)], check=False, capture_output=True, text=True
    )


def build_test(alert: str, series: Series, *, at: str, firing: int) -> dict[str, Any]:
    expr = f'count(ALERTS{{alertname="{alert}", alertstate="firing"}}) or vector(0)'
    return {
        "interval": INTERVAL,
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [
            {
                "expr": expr,
                "eval_time": at,
                "exp_samples": [{"labels": "{}", "value": firing}],
            }
        ],
    }


@pytest.mark.parametrize("alert", CASES)
def test_an_alert_fires_in_its_case_and_not_in_the_other(alert: str, tmp_path: Path) -> None:
    case = CASES[alert]
    done = run_promtool(
        tmp_path,
        build_test(alert, case.fires, at=case.at, firing=1),
        build_test(alert, case.stays_silent, at=case.at, firing=0),
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_watchdog_always_fires(tmp_path: Path) -> None:
    test = build_test("RotaWatchdog", {"up": "1x4"}, at="30s", firing=1)
    done = run_promtool(tmp_path, test)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_a_case(tmp_path: Path) -> None:
    assert {rule.name for rule in ALERTING_RULES} == {*CASES, "RotaWatchdog"}
    (tmp_path / "rules.yml").write_text(render_rules())
    done = subprocess.run(
        ["promtool", "check", "rules", str(tmp_path / "rules.yml")],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert f"{len(ALERTING_RULES) + len(RECORDING_RULES)} rules found" in done.stdout


@pytest.mark.parametrize("rule", ALERTING_RULES, ids=lambda rule: rule.name)
def test_every_alert_has_a_runbook_that_says_what_to_do(rule: Any) -> None:
    page = (ROOT / "docs" / "runbooks" / f"{rule.runbook}.md").read_text()
    assert page.startswith(f"# {rule.name}\n")
    for heading in ("## What it means", "## What to do"):
        assert heading in page
