"""`rota metrics`: prints metrics, scrape targets, Prometheus rules and Grafana dashboards."""

import json
from pathlib import Path

from cyclopts import App

from rota.cli.api_options import DEFAULT_API_OPTIONS, ApiOptions, print_json, print_lines
from rota.cli.errors import UsageError

app = App(name="metrics", help="Print metrics; write Prometheus rules and Grafana dashboards.")


@app.default
def metrics(*, cluster: bool = False, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Print metrics in the text format of Prometheus.

    Parameters
    ----------
    cluster
        Only the metrics of the cluster, without those of the API process. Requires a platform key.
    """
    if not api_options.is_plain:
        raise UsageError("--json and --quiet are not supported: metrics are plain text")
    with api_options.open_client() as client:
        print(client.get_cluster_metrics() if cluster else client.get_metrics(), end="")
    return 0


@app.command
def targets(*, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Print the processes to scrape as JSON, for `file_sd_configs` of Prometheus.

    Prometheus can also read them from GET /v1/targets, with `http_sd_configs`.
    """
    with api_options.open_client() as client:
        print_json(client.list_targets())
    return 0


@app.command
def rules(*, runbooks: str | None = None) -> int:
    """Print the alerting and recording rules for Prometheus.

    Write them to a file that `rule_files` of Prometheus names: rota metrics rules > rota.rules.yml

    Parameters
    ----------
    runbooks
        Base URL of the runbook pages, for the links in alerts. Default: docs/runbooks.
    """
    from rota.engine.observability.monitoring import rules as content  # noqa: PLC0415 — quick start

    print(content.render_rules(runbooks or content.RUNBOOK_BASE), end="")
    return 0


@app.command
def dashboards(folder: Path = Path(), /) -> int:
    """Write the Grafana dashboards as JSON files.

    Parameters
    ----------
    folder
        Folder for the files; created if missing. Default: the current folder.
    """
    from rota.engine.observability.monitoring.dashboards import (  # noqa: PLC0415 — quick start
        DASHBOARDS,
        build_dashboard,
    )

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for dashboard in DASHBOARDS:
        path = folder / f"{dashboard.uid}.json"
        path.write_text(json.dumps(build_dashboard(dashboard), indent=2) + "\n", encoding="utf-8")
        written.append(f"Wrote {path}")
    print_lines(written)
    return 0
