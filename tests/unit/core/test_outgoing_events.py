"""Every final state and every documented change has an event, and its id never changes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

from rota.core.ids import derive_outgoing_event_id, read_id_time
from rota.core.outgoing_events import (
    AUDIT_EVENT_TYPES,
    EVENT_TYPES,
    GRAPH_EVENT_TYPES,
    INCIDENT_EVENT_TYPES,
    RUN_EVENT_TYPES,
)
from rota.core.states import FINAL_STATES

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
RUN = UUID("0198c0de-0000-7000-8000-000000000001")
REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "events.md"


def test_the_same_row_has_the_same_event_id_for_ever() -> None:
    assert derive_outgoing_event_id("run.failed", RUN, 3, at=NOW) == UUID(
        "019f1d8c-e200-741e-970d-e9e76cbf226e"
    )


def test_ids_differ_by_type_row_and_time_and_begin_with_the_time() -> None:
    ids = {
        derive_outgoing_event_id("run.failed", RUN, 3, at=NOW),
        derive_outgoing_event_id("graph.failed", RUN, 3, at=NOW),
        derive_outgoing_event_id("run.failed", RUN, 4, at=NOW),
        derive_outgoing_event_id("run.failed", UUID(int=1), 3, at=NOW),
        derive_outgoing_event_id("run.failed", RUN, 3, at=NOW + timedelta(seconds=1)),
    }

    assert len(ids) == 5
    assert read_id_time(derive_outgoing_event_id("job.paused", 7, at=NOW)) == NOW


def test_every_final_state_has_an_event() -> None:
    assert set(RUN_EVENT_TYPES) == {state.value for state in FINAL_STATES}


def test_every_event_is_described_and_documented() -> None:
    tables = (RUN_EVENT_TYPES, GRAPH_EVENT_TYPES, AUDIT_EVENT_TYPES, INCIDENT_EVENT_TYPES)
    built = {type_ for table in tables for type_ in table.values()}
    text = REFERENCE.read_text()

    assert built | {"attempt.failed", "backfill.ended"} == set(EVENT_TYPES)
    assert [type_ for type_ in EVENT_TYPES if f"`{type_}`" not in text] == []
