"""Renders the page of the codes of problems from core/problem_codes.py."""

from rota.core.problem_codes import PROBLEM_CODES, fill_names

INTRODUCTION = """# Problems that Rota detects

Generated from `src/rota/core/problem_codes.py` by `make generate`.

`GET /v1/problems`, `rota status`, `rota doctor` and the overview of the dashboard list what is
wrong now, the most severe first. A problem has a `code` for programs, a `sentence` that says what
is wrong, the `cause` if Rota knows it, the time `since` which it exists, its `subject`, a `remedy`,
and an `action` if one request ends it. It disappears when its cause ends. The codes of error
responses are listed in [problems](../problems/README.md). An incident that an
[expectation](../howto/alerts.md) opened is a problem until it ends; once a user acknowledges it, or
while a silence holds, its severity is `info`.

`rota status --check` exits with 1 if a problem is a `warning` or worse.

| Code | Severity | Meaning | Remedy |
|---|---|---|---|
"""


def render_problems_markdown() -> str:
    """Return the page."""
    rows = [
        f"| `{code}` | {known.severity} | {known.meaning} | {fill_names(known.remedy, {})} |"
        for code, known in PROBLEM_CODES.items()
    ]
    return INTRODUCTION + "\n".join(rows) + "\n"
