"""Finds the names of steps from their numbers in graph runs."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

import msgspec

from rota.store import watches
from rota.store.driver import Connection

StepPlace = tuple[UUID | None, int | None]


async def read_step_names(
    conn: Connection, places: Collection[StepPlace]
) -> Mapping[StepPlace, str]:
    """Return the name of each step, by graph run and number; unknown ones are left out."""
    run_ids = {run_id for run_id, _ in places if run_id is not None}
    steps = {
        row.run_id: list_steps(row.definition, row.path)
        for row in await watches.read_step_names(conn, run_ids)
    }
    found: dict[StepPlace, str] = {}
    for run_id, number in places:
        listed = steps.get(run_id, []) if run_id is not None else []
        if number is not None and 0 <= number < len(listed):
            found[run_id, number] = str(listed[number].get("name", number))
    return found


def list_steps(definition: str, path: Collection[int]) -> list[dict[str, Any]]:
    """Return the steps of a stored graph, or of the sub-graph at a path."""
    graph: dict[str, Any] = msgspec.json.decode(definition)
    for place in path:
        graph = graph["steps"][place]["graph"]
    steps: list[dict[str, Any]] = graph["steps"]
    return steps
