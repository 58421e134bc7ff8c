"""Functions become jobs: declared, submitted, served. Room: sdk/app.

app.py         `App`: collects jobs, and knows where the server is
job.py         `Job`: a declared function, which is still a function and can be submitted
declaring.py   what is said about a job, read and checked
arguments.py   the parameters of a function, and the payload that carries them
contexts.py    `ctx`: what a function learns about its attempt
serving.py     what a worker calls
sending.py     the way to the server
submission.py  what was submitted: its state and its result

Nothing here talks to a database, and the client of the API is loaded when the first job is sent.
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
