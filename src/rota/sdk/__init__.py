"""Provides the Python SDK: declaring, submitting and testing jobs, and calling the API.

app            turns functions into jobs: declares, submits and serves them
graph          builds graphs of jobs in Python
client         calls every operation of the API over HTTP
transaction    submits jobs inside the caller's own database transaction
code           reads and writes job manifests (rota.yaml)
importing      converts schedules of cron, Kubernetes, Celery and APScheduler
outside        reports runs of commands that another scheduler starts (`rota exec`)
testing        helpers to test jobs, executors and event sources
webhooks       verifies and signs webhooks

The public names are exported from `rota`; modules in this package may move.
"""
