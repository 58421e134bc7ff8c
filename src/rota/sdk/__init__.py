"""Sdk: what people who write jobs type. Floor 4.

app          functions become jobs: declared, submitted, served
client       every operation of the API, over HTTP
transaction  jobs that are submitted inside the caller's own database transaction
testing      what people need to test their jobs and executors
webhooks     signed webhooks, for those who receive them

The public names are those of `rota` itself; what is in here may move.
"""
