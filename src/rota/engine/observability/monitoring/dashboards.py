"""Builds the Grafana dashboards: `rota metrics dashboards` writes them.

Grafana's classic JSON, which Grafana 9 and later load. Every dashboard has a variable for the data
source. A panel is a list of expressions with their legends; the layout follows from the widths.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

SCHEMA_VERSION: Final = 38
GRID_COLUMNS: Final = 24
STAT_HEIGHT: Final = 4
CHART_HEIGHT: Final = 8
DATASOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
SECONDS: Final = "s"
PER_SECOND: Final = "ops"
COUNT: Final = "short"
SHARE: Final = "percentunit"
BYTES: Final = "bytes"


@dataclass(frozen=True, slots=True)
class Query:
    """An expression and the legend of its series."""

    expr: str
    legend: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A panel. `kind` is Grafana's panel type."""

    title: str
    description: str
    unit: str
    queries: Sequence[Query]
    kind: str = "timeseries"
    width: int = 12
    height: int = CHART_HEIGHT
    is_stacked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A variable that the user chooses from the values of a label."""

    name: str
    label: str
    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    uid: str
    title: str
    description: str
    panels: Sequence[Panel]
    variables: Sequence[Variable] = ()


def stat(title: str, description: str, expr: str, unit: str = COUNT) -> Panel:
    """Build a panel with one large number."""
    return Panel(
        title=title,
        description=description,
        unit=unit,
        queries=[Query(expr)],
        kind="stat",
        width=4,
        height=STAT_HEIGHT,
    )


def quantiles(metric: str, by: str, *, selector: str = "") -> list[Query]:
    """Return the p50 and p99 of a histogram."""
    return [
        Query(
            f"histogram_quantile({share}, sum by (le{', ' + by if by else ''}) "
            f"(rate({metric}_bucket{selector}[$__rate_interval])))",
            f"p{round(share * 100)}{' {{' + by + '}}' if by else ''}",
        )
        for share in (0.5, 0.99)
    ]


OVERVIEW: Final = Dashboard(
    uid="rota-overview",
    title="Rota / Overview",
    description="Is work waiting, failing or late?",
    panels=[
        stat("Waiting", "Runs that are ready and wait.", "sum(max by (queue) (rota_runs_waiting))"),
        stat("Running", "Runs that workers hold.", "max(rota_runs_running)"),
        stat(
            "Oldest wait",
            "Wait of the oldest ready run.",
            "max(rota_run_oldest_wait_seconds)",
            SECONDS,
        ),
        stat(
            "Failure share",
            "Share of attempts within the last hour that did not succeed.",
            'sum(increase(rota_run_duration_seconds_count{outcome!="succeeded"}[1h]))'
            " / sum(increase(rota_run_duration_seconds_count[1h]))",
            SHARE,
        ),
        stat(
            "Firing lag",
            "Delay of the most overdue tick or submission.",
            "max(rota_fire_lag_seconds)",
            SECONDS,
        ),
        stat(
            "Open incidents",
            "Incidents that are not resolved.",
            "sum(max by (severity) (rota_incidents_open))",
        ),
        Panel(
            title="Attempts ended, by outcome",
            description="Attempts that ended per second.",
            unit=PER_SECOND,
            queries=[
                Query(
                    "sum by (outcome) (rate(rota_attempts_ended_total[$__rate_interval]))",
                    "{{outcome}}",
                )
            ],
            is_stacked=True,
        ),
        Panel(
            title="Ticks fired",
            description="Ticks that schedulers decided per second.",
            unit=PER_SECOND,
            queries=[Query("sum(rate(rota_ticks_fired_total[$__rate_interval]))", "fired")],
        ),
        Panel(
            title="Wait, by queue",
            description="Time from ready to started.",
            unit=SECONDS,
            queries=quantiles("rota_run_wait_seconds", "queue"),
        ),
        Panel(
            title="Slots used",
            description="Busy slots of all workers, and how many there are.",
            unit=COUNT,
            queries=[
                Query("max(rota_worker_slots_busy)", "busy"),
                Query("max(rota_worker_slots)", "slots"),
            ],
        ),
        Panel(
            title="Demand, by queue",
            description="Ready and running runs, and those due within 60 seconds.",
            unit=COUNT,
            queries=[Query("max by (queue) (rota_queue_demand)", "{{queue}}")],
        ),
        Panel(
            title="Dead letters, last 24 hours",
            description="Runs that failed for good and were not requeued.",
            unit=COUNT,
            queries=[Query("max by (state) (rota_dead_letters)", "{{state}}")],
            is_stacked=True,
        ),
    ],
)

TASK: Final = Dashboard(
    uid="rota-task",
    title="Rota / Task",
    description="One task: rate, duration, failures.",
    variables=[
        Variable(
            name="task", label="Task", query="label_values(rota_run_duration_seconds_count, task)"
        )
    ],
    panels=[
        Panel(
            title="Rate, by outcome",
            description="Attempts of the task that ended per second.",
            unit=PER_SECOND,
            queries=[
                Query(
                    "sum by (outcome) (rate(rota_run_duration_seconds_count"
                    '{task=~"$task"}[$__rate_interval]))',
                    "{{outcome}}",
                )
            ],
            is_stacked=True,
        ),
        Panel(
            title="Duration",
            description="How long attempts of the task run. Exemplars link to runs.",
            unit=SECONDS,
            queries=quantiles("rota_run_duration_seconds", "", selector='{task=~"$task"}'),
        ),
        Panel(
            title="Duration, distribution",
            description="Attempts by duration over time.",
            unit=SECONDS,
            queries=[
                Query(
                    "sum by (le) (increase(rota_run_duration_seconds_bucket"
                    '{task=~"$task"}[$__rate_interval]))',
                    "{{le}}",
                )
            ],
            kind="heatmap",
        ),
        Panel(
            title="Failure share",
            description="Share of attempts of the task that did not succeed.",
            unit=SHARE,
            queries=[
                Query(
                    "sum(rate(rota_run_duration_seconds_count"
                    '{task=~"$task", outcome!="succeeded"}[$__rate_interval]))'
                    " / sum(rate(rota_run_duration_seconds_count"
                    '{task=~"$task"}[$__rate_interval]))',
                    "failed",
                )
            ],
        ),
    ],
)

FLEET: Final = Dashboard(
    uid="rota-fleet",
    title="Rota / Fleet",
    description="The processes: version, load, connections, leases.",
    panels=[
        Panel(
            title="Processes",
            description="Version and role of each process.",
            unit=COUNT,
            queries=[Query("rota_build_info", "{{instance}} {{role}} {{version}}")],
            kind="table",
        ),
        Panel(
            title="Up",
            description="1 if Prometheus could scrape the process.",
            unit=COUNT,
            queries=[Query('up{job="rota"}', "{{instance}}")],
        ),
        Panel(
            title="CPU",
            description="Processor time per second.",
            unit=SHARE,
            queries=[Query("rate(process_cpu_seconds_total[$__rate_interval])", "{{instance}}")],
        ),
        Panel(
            title="Memory",
            description="Resident memory.",
            unit=BYTES,
            queries=[Query("process_resident_memory_bytes", "{{instance}}")],
        ),
        Panel(
            title="Loop lag",
            description="Largest delay of the event loop within the last seconds.",
            unit=SECONDS,
            queries=[Query("rota_loop_lag_seconds", "{{instance}}")],
        ),
        Panel(
            title="Database connections of the process",
            description="Connections in use and idle.",
            unit=COUNT,
            queries=[Query("rota_pool_connections", "{{instance}} {{state}}")],
        ),
        Panel(
            title="Shards, by scheduler",
            description="Shards that each scheduler holds.",
            unit=COUNT,
            queries=[Query("max by (scheduler) (rota_shards_owned)", "{{scheduler}}")],
            is_stacked=True,
        ),
        Panel(
            title="Draining",
            description="1 once the process was asked to stop.",
            unit=COUNT,
            queries=[Query("rota_process_draining", "{{instance}}")],
        ),
        Panel(
            title="Clock offset",
            description="How far the database's clock is ahead of the machine's.",
            unit=SECONDS,
            queries=[Query("rota_clock_offset_seconds", "{{instance}}")],
        ),
        Panel(
            title="Workers",
            description="Live workers, and those that are draining.",
            unit=COUNT,
            queries=[
                Query("max(rota_workers)", "workers"),
                Query("max(rota_workers_draining)", "draining"),
            ],
        ),
    ],
)

DATABASE: Final = Dashboard(
    uid="rota-database",
    title="Rota / Database",
    description="PostgreSQL as Rota sees it.",
    panels=[
        Panel(
            title="Statements",
            description="Duration of statements, p99.",
            unit=SECONDS,
            queries=[
                Query(
                    "histogram_quantile(0.99, sum by (le, statement) "
                    "(rate(rota_statement_duration_seconds_bucket[$__rate_interval])))",
                    "{{statement}}",
                )
            ],
        ),
        Panel(
            title="Claims",
            description="Duration of claims.",
            unit=SECONDS,
            queries=quantiles("rota_claim_duration_seconds", ""),
        ),
        Panel(
            title="Connections",
            description="Connections to the server, by state, and its limit.",
            unit=COUNT,
            queries=[
                Query("max by (state) (rota_database_connections)", "{{state}}"),
                Query("max(rota_database_connections_max)", "limit"),
            ],
        ),
        Panel(
            title="Reached",
            description="1 if the process reaches the database.",
            unit=COUNT,
            queries=[Query("rota_database_up", "{{instance}}")],
        ),
        Panel(
            title="Table sizes",
            description="The largest tables with indexes and partitions.",
            unit=BYTES,
            queries=[Query("max by (table) (rota_table_bytes)", "{{table}}")],
            is_stacked=True,
        ),
        Panel(
            title="Dead rows",
            description="Rows that vacuum has not removed yet.",
            unit=COUNT,
            queries=[Query("max by (table) (rota_table_dead_tuples)", "{{table}}")],
        ),
    ],
)

DELIVERY: Final = Dashboard(
    uid="rota-delivery",
    title="Rota / Delivery",
    description="Events, notifications and webhooks.",
    panels=[
        Panel(
            title="Relay lag",
            description="How far the event relay and sinks are behind.",
            unit=SECONDS,
            queries=[Query("max by (relay) (rota_relay_lag_seconds)", "{{relay}}")],
        ),
        Panel(
            title="Events relayed",
            description="Events that the relay handed over per second.",
            unit=PER_SECOND,
            queries=[
                Query(
                    "sum by (name) (rate(rota_events_relayed_total[$__rate_interval]))", "{{name}}"
                )
            ],
        ),
        Panel(
            title="Notifications",
            description="Messages about incidents, by channel and outcome.",
            unit=PER_SECOND,
            queries=[
                Query(
                    "sum by (channel, outcome) (rate(rota_notifications_total[$__rate_interval]))",
                    "{{channel}} {{outcome}}",
                )
            ],
        ),
        Panel(
            title="Webhook deliveries",
            description="Requests to webhook endpoints, by outcome.",
            unit=PER_SECOND,
            queries=[
                Query(
                    "sum by (outcome) (rate(rota_deliveries_total[$__rate_interval]))",
                    "{{outcome}}",
                )
            ],
        ),
        Panel(
            title="Open incidents",
            description="Incidents that are not resolved, by severity.",
            unit=COUNT,
            queries=[Query("max by (severity) (rota_incidents_open)", "{{severity}}")],
            is_stacked=True,
        ),
        Panel(
            title="Requests",
            description="Duration of API requests, p99 by operation.",
            unit=SECONDS,
            queries=[
                Query(
                    "histogram_quantile(0.99, sum by (le, operation) "
                    "(rate(rota_request_duration_seconds_bucket[$__rate_interval])))",
                    "{{operation}}",
                )
            ],
        ),
    ],
)

DASHBOARDS: Final = (OVERVIEW, TASK, FLEET, DATABASE, DELIVERY)


def build_dashboard(dashboard: Dashboard) -> dict[str, Any]:
    """Return the dashboard in Grafana's classic JSON."""
    return {
        "uid": dashboard.uid,
        "title": dashboard.title,
        "description": dashboard.description,
        "tags": ["rota"],
        "schemaVersion": SCHEMA_VERSION,
        "version": 1,
        "editable": True,
        "timezone": "browser",
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": list(build_variables(dashboard))},
        "panels": list(build_panels(dashboard.panels)),
    }


def build_variables(dashboard: Dashboard) -> Iterator[dict[str, Any]]:
    yield {
        "name": "datasource",
        "label": "Data source",
        "type": "datasource",
        "query": "prometheus",
        "current": {},
        "hide": 0,
    }
    for variable in dashboard.variables:
        yield {
            "name": variable.name,
            "label": variable.label,
            "type": "query",
            "datasource": DATASOURCE,
            "query": {"query": variable.query, "refId": variable.name},
            "definition": variable.query,
            "refresh": 2,
            "includeAll": True,
            "multi": True,
            "allValue": ".*",
            "current": {"text": "All", "value": "$__all"},
            "hide": 0,
            "sort": 1,
        }


def build_panels(panels: Sequence[Panel]) -> Iterator[dict[str, Any]]:
    """Place panels from left to right, row by row."""
    left = top = row_height = 0
    for number, panel in enumerate(panels, start=1):
        if left + panel.width > GRID_COLUMNS:
            left, top, row_height = 0, top + row_height, 0
        grid = {"h": panel.height, "w": panel.width, "x": left, "y": top}
        yield build_panel(panel, number, grid)
        left += panel.width
        row_height = max(row_height, panel.height)


def build_panel(panel: Panel, number: int, grid: dict[str, int]) -> dict[str, Any]:
    defaults: dict[str, Any] = {"unit": panel.unit}
    if panel.kind == "timeseries":
        mode = "normal" if panel.is_stacked else "none"
        defaults["custom"] = {
            "fillOpacity": 20 if panel.is_stacked else 0,
            "stacking": {"mode": mode, "group": "A"},
        }
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": DATASOURCE,
        "gridPos": grid,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": {},
        "targets": [
            {
                "refId": chr(ord("A") + place),
                "datasource": DATASOURCE,
                "expr": query.expr,
                "legendFormat": query.legend,
                "instant": panel.kind == "table",
                "range": panel.kind != "table",
                "format": build_format(panel.kind),
                "exemplar": panel.kind == "timeseries",
            }
            for place, query in enumerate(panel.queries)
        ],
    }


def build_format(kind: str) -> str:
    return {"table": "table", "heatmap": "heatmap"}.get(kind, "time_series")
