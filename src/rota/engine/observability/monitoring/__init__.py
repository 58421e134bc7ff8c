"""Builds the Prometheus rules and Grafana dashboards that Rota ships.

rules        alerts and recording rules; each alert has a runbook page
dashboards   dashboards in Grafana's classic JSON

Both are written in terms of the metrics that this release exposes; a test runs every expression
against real processes.
"""
