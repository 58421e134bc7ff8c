"""Defines the Prometheus rules: `rota metrics rules` prints them.

The rules load in Prometheus 2.42 and later. `job="rota"` is the scrape job of the processes; the
metrics of the cluster come from the API. Each alert has a runbook page of the same name.
"""

from dataclasses import dataclass
from typing import Any, Final

import yaml

# Where the runbook pages are in the source tree; `--runbooks` names a published copy.
RUNBOOK_BASE: Final = "docs/runbooks"
EVALUATION_INTERVAL: Final = "15s"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingRule:
    """An expression that Prometheus computes in advance."""

    record: str
    expr: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertingRule:
    """An alert. `summary` may contain Prometheus' templates. `hold_for` is a Prometheus duration;
    empty: at once.
    """

    name: str
    expr: str
    severity: str
    summary: str
    description: str
    hold_for: str = ""

    @property
    def runbook(self) -> str:
        """The name of the page under docs/runbooks."""
        words = "".join(f"-{char.lower()}" if char.isupper() else char for char in self.name)
        return words.strip("-")


RECORDING_RULES: Final = (
    RecordingRule(
        record="queue:rota_run_wait_seconds:p99_5m",
        expr=(
            "histogram_quantile(0.99, sum by (queue, le) (rate(rota_run_wait_seconds_bucket[5m])))"
        ),
    ),
    RecordingRule(
        record="task:rota_runs:ended_1h",
        expr="sum by (task) (increase(rota_run_duration_seconds_count[1h]))",
    ),
    RecordingRule(
        record="task:rota_runs:failure_ratio_1h",
        expr=(
            'sum by (task) (increase(rota_run_duration_seconds_count{outcome!="succeeded"}[1h]))'
            " / (task:rota_runs:ended_1h > 0)"
        ),
    ),
)

ALERTING_RULES: Final = (
    AlertingRule(
        name="RotaNoScheduler",
        expr="rota_schedulers == 0",
        hold_for="1m",
        severity="critical",
        summary="No scheduler is running",
        description="Ticks and delayed submissions do not start until a scheduler runs.",
    ),
    AlertingRule(
        name="RotaShardsUnowned",
        expr="rota_shards_unowned > 0",
        hold_for="1m",
        severity="critical",
        summary="{{ $value }} shards have no scheduler",
        description="Jobs of these shards do not run although schedulers are alive.",
    ),
    AlertingRule(
        name="RotaFiringLate",
        expr="rota_fire_lag_seconds > 10",
        hold_for="1m",
        severity="critical",
        summary="Ticks are fired {{ $value | humanizeDuration }} late",
        description="Schedulers do not keep up, or cannot write to the database.",
    ),
    AlertingRule(
        name="RotaQueueWithoutWorker",
        expr="rota_runs_waiting > 0 unless on (queue) rota_queue_workers > 0",
        hold_for="2m",
        severity="critical",
        summary="Queue {{ $labels.queue }} has waiting runs and no worker",
        description="No live worker serves the queue.",
    ),
    AlertingRule(
        name="RotaWaitHigh",
        expr="queue:rota_run_wait_seconds:p99_5m > 60",
        hold_for="10m",
        severity="warning",
        summary="Runs of queue {{ $labels.queue }} wait {{ $value | humanizeDuration }} (p99)",
        description="Runs that are ready wait longer than a minute for a slot or a limit.",
    ),
    AlertingRule(
        name="RotaFailureRatio",
        expr="task:rota_runs:failure_ratio_1h > 0.1 and task:rota_runs:ended_1h >= 20",
        hold_for="5m",
        severity="warning",
        summary="{{ $value | humanizePercentage }} of the attempts of {{ $labels.task }} fail",
        description="More than a tenth of at least 20 attempts within an hour did not succeed.",
    ),
    AlertingRule(
        name="RotaDeadLettersGrow",
        expr="sum(increase(rota_dead_letters_total[15m])) > 0",
        severity="warning",
        summary="{{ $value | humanize }} runs became dead letters within 15 minutes",
        description="Runs used up their retries, lost their worker or were quarantined.",
    ),
    AlertingRule(
        name="RotaDatabaseDown",
        expr="rota_database_up == 0",
        hold_for="30s",
        severity="critical",
        summary="{{ $labels.instance }} does not reach the database",
        description="The process waits for the database; nothing is lost meanwhile.",
    ),
    AlertingRule(
        name="RotaConnectionsNearMax",
        expr="sum(rota_database_connections) > 0.9 * max(rota_database_connections_max)",
        hold_for="5m",
        severity="warning",
        summary="The database server has {{ $value }} connections, over 90 % of its limit",
        description="New processes cannot connect once the limit is reached.",
    ),
    AlertingRule(
        name="RotaClockSkewed",
        expr="abs(rota_clock_offset_seconds) > 2",
        hold_for="1m",
        severity="warning",
        summary="The clock of {{ $labels.instance }} is {{ $value }} s off the database's",
        description="Leases are safe, but logs and measurements of this machine mislead.",
    ),
    AlertingRule(
        name="RotaRelayBehind",
        expr='rota_relay_lag_seconds{relay="relay"} > 60',
        hold_for="1m",
        severity="critical",
        summary="The event relay is {{ $value | humanizeDuration }} behind",
        description="Alerts and webhooks are delayed by as much.",
    ),
    AlertingRule(
        name="RotaChannelFailing",
        expr=('sum by (channel) (increase(rota_notifications_total{outcome!="sent"}[15m])) > 0'),
        hold_for="5m",
        severity="warning",
        summary="Notifications through channel {{ $labels.channel }} fail",
        description="People are not told about incidents through this channel.",
    ),
    AlertingRule(
        name="RotaTargetDown",
        expr='up{job="rota"} == 0',
        hold_for="1m",
        severity="warning",
        summary="{{ $labels.instance }} cannot be scraped",
        description="The process ended without draining, hangs, or cannot be reached.",
    ),
    AlertingRule(
        name="RotaLoopBlocked",
        expr="rota_loop_lag_seconds > 1",
        hold_for="1m",
        severity="warning",
        summary="The event loop of {{ $labels.instance }} is {{ $value }} s late",
        description="The machine is overloaded, or code blocks the loop.",
    ),
    AlertingRule(
        name="RotaVersionSkew",
        expr="count(count by (version) (rota_build_info)) > 1",
        hold_for="1h",
        severity="warning",
        summary="Processes of {{ $value }} versions run side by side",
        description="An upgrade was not finished.",
    ),
    AlertingRule(
        name="RotaWatchdog",
        expr="vector(1)",
        severity="none",
        summary="This alert always fires",
        description="Route it to a dead man's switch, which alerts when it stops.",
    ),
)


def build_rules(runbooks: str = RUNBOOK_BASE) -> dict[str, Any]:
    """Return the content of the rules file."""
    return {
        "groups": [
            {
                "name": "rota-recording",
                "interval": EVALUATION_INTERVAL,
                "rules": [{"record": rule.record, "expr": rule.expr} for rule in RECORDING_RULES],
            },
            {
                "name": "rota",
                "interval": EVALUATION_INTERVAL,
                "rules": [build_alert(rule, runbooks) for rule in ALERTING_RULES],
            },
        ]
    }


def build_alert(rule: AlertingRule, runbooks: str) -> dict[str, Any]:
    alert: dict[str, Any] = {"alert": rule.name, "expr": rule.expr}
    if rule.hold_for:
        alert["for"] = rule.hold_for
    return alert | {
        "labels": {"severity": rule.severity},
        "annotations": {
            "summary": rule.summary,
            "description": rule.description,
            "runbook_url": f"{runbooks.rstrip('/')}/{rule.runbook}.md",
        },
    }


def render_rules(runbooks: str = RUNBOOK_BASE) -> str:
    """Return the rules file as YAML."""
    return yaml.safe_dump(build_rules(runbooks), sort_keys=False, width=1_000, allow_unicode=True)
