"""Renders the state guard: triggers that make the database refuse the changes that core refuses.

The WHEN clause of each trigger lists the legal pairs, so its function runs only on an illegal
change; no cost was measurable. Common changes come first, because PostgreSQL compares the list from
the left. generate.py writes the result to src/rota/store/generated/state_guard.sql.
"""

from collections.abc import Iterable
from enum import StrEnum

from rota.core.states import (
    FINAL_STATES,
    INITIAL_STATES,
    LIVE_STATES,
    RunState,
    list_job_changes,
    list_run_changes,
)

_HEAD = """\
-- Generated from src/rota/core/states.py by `make generate`. Do not edit.
-- Refuses every change of state that core does not know, even one typed into psql.

create or replace function rota.refuse_move() returns trigger
language plpgsql as $$
begin
    raise exception 'this change of state is not allowed'
        using errcode = 'RT001',
        detail = tg_argv[0] || ': ' || case
            when tg_op = 'UPDATE' then old.state::text
            when tg_argv[1] = 'left' then coalesce(to_jsonb(new) ->> 'left_state', 'nothing')
            else 'nothing'
        end || ' to ' || new.state::text;
end
$$;
"""

_COMMON = (
    (RunState.QUEUED, RunState.RUNNING),
    (RunState.RUNNING, RunState.SUCCEEDED),
    (RunState.RETRYING, RunState.RUNNING),
)


def render_state_guard() -> str:
    """Return the content of state_guard.sql."""
    lasting = [(old, new) for old, new in list_run_changes() if new in LIVE_STATES]
    ending = [(old, new) for old, new in list_run_changes() if new in FINAL_STATES]
    born_live = sorted(INITIAL_STATES & LIVE_STATES, key=list(RunState).index)
    born_final = sorted(INITIAL_STATES & FINAL_STATES, key=list(RunState).index)
    return "\n".join(
        (
            _HEAD,
            _trigger(
                "jobs_moves", "update of state on rota.jobs", _not_in(list_job_changes()), "job"
            ),
            _trigger(
                "live_runs_moves", "update of state on rota.live_runs", _not_in(lasting), "run"
            ),
            _trigger(
                "live_runs_births",
                "insert on rota.live_runs",
                f"new.state not in ({_names(born_live)})",
                "run",
            ),
            _trigger(
                "runs_moves",
                "insert on rota.runs",
                f"new.left_state is not null\n    and {_not_in(ending, old='new.left_state')}",
                "run', 'left",
            ),
            _trigger(
                "runs_births",
                "insert on rota.runs",
                f"new.left_state is null\n    and new.state not in ({_names(born_final)})",
                "run",
            ),
            _trigger("runs_final", "update of state on rota.runs", "old.state <> new.state", "run"),
        )
    )


def _trigger(name: str, event: str, when: str, arguments: str) -> str:
    return (
        f"create or replace trigger {name}\n"
        f"before {event}\n"
        "for each row\n"
        f"when (\n    {when}\n)\n"
        f"execute function rota.refuse_move('{arguments}');\n"
    )


def _not_in(pairs: Iterable[tuple[StrEnum, StrEnum]], *, old: str = "old.state") -> str:
    ordered = sorted(pairs, key=lambda pair: (pair not in _COMMON, pair))
    listed = ",\n        ".join(f"('{a.value}', '{b.value}')" for a, b in ordered)
    differs = "" if old != "old.state" else "old.state <> new.state\n    and "
    return f"{differs}({old}, new.state) not in (\n        {listed}\n    )"


def _names(states: Iterable[RunState]) -> str:
    return ", ".join(f"'{state.value}'" for state in states)
