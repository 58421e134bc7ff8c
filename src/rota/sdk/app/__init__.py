"""Turns functions into jobs: declares, submits and serves them.

app.py         `App`: collects jobs and holds the connection settings
job.py         `Job`: a declared function; it can be called and submitted
declaring.py   reads and checks the options of a decorator
arguments.py   converts between a function's arguments and a payload
contexts.py    `ctx`: the attempt as its function sees it
waiting.py     jobs that are triggered by events
serving.py     adapts a function to the Python executor's handlers
sending.py     sends submissions to the server
submission.py  a submitted job: its state and its result

Nothing here talks to a database. The API client is loaded with the first submission.
"""

from rota.sdk.app.app import App
from rota.sdk.app.contexts import Context, SyncContext
from rota.sdk.app.job import Job, job
from rota.sdk.app.submission import NotFinished, RunFailed, Submission

__all__ = [
    "App",
    "Context",
    "Job",
    "NotFinished",
    "RunFailed",
    "Submission",
    "SyncContext",
    "job",
]
