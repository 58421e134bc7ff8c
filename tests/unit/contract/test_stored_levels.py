"""Stored schedules, calendars and graphs of a newer release are read at every level (O4)."""

from enum import Enum
from typing import Any

import pytest
from tests.support import newer
from tests.support.newer import CALENDAR, FIELD, GRAPH, POLICY, SCHEDULES, Newer

from rota.contract.calendar import (
    CalendarDocument,
    read_calendar,
    read_stored_calendar,
)
from rota.contract.documents import fields_by_name
from rota.contract.graph import read_graph, read_stored_graph
from rota.contract.graph_fields import GraphDocument
from rota.contract.limits import read_stored_limits
from rota.contract.policy import PolicyDraft, read_policy, read_stored_policy, write_policy
from rota.contract.retries import RetriesDraft
from rota.contract.schedule import (
    read_saved_schedule,
    read_stored_schedule,
    write_schedule,
)
from rota.contract.schedule_fields import ScheduleDocument
from rota.core.errors import InvalidInput, NewerDocument

FALLBACKS = {f"MisfireDocument.{name}" for name in ("on_outage", "on_resume", "on_edit")}
NEWER_SCHEDULES = newer.newer_schedules()


def test_no_level_and_no_choice_is_left_out() -> None:
    schedules = [
        level for each in SCHEDULES.values() for level in newer.levels(ScheduleDocument, each)
    ]
    found = {level.struct for level in schedules}
    choices = {
        name for each in SCHEDULES.values() for _, name in newer.choices(ScheduleDocument, each)
    }

    assert found == newer.structs_below(ScheduleDocument)
    assert choices == {
        f"{struct.__name__}.{name}"
        for struct in found
        for name, field in fields_by_name(struct).items()
        if any(newer._inside(field.type, Enum))
    }
    for root, document in ((CalendarDocument, CALENDAR), (GraphDocument, GRAPH)):
        levels = newer.levels(root, document)
        assert {level.struct for level in levels} == newer.structs_below(root)


@pytest.mark.parametrize("name", [name for name in NEWER_SCHEDULES if name.endswith(FIELD)])
def test_an_unknown_field_of_a_schedule_is_kept_and_changes_nothing(name: str) -> None:
    document = NEWER_SCHEDULES[name].document
    known = read_saved_schedule(SCHEDULES[name.partition(":")[0]], seed="s")

    read = read_stored_schedule(document, seed="s")

    assert (read.rules, read.window, read.misfire) == (known.rules, known.window, known.misfire)
    assert (read.jitter, read.gap, read.overlap) == (known.jitter, known.gap, known.overlap)
    assert write_schedule(read) == document
    with pytest.raises(InvalidInput, match=FIELD):
        read_saved_schedule(document)


@pytest.mark.parametrize("name", [name for name in NEWER_SCHEDULES if not name.endswith(FIELD)])
def test_an_unknown_value_of_a_choice_has_a_fallback_or_waits_for_newer_code(name: str) -> None:
    document = NEWER_SCHEDULES[name].document
    field = name.rpartition(" ")[2]

    if f"MisfireDocument.{field.rpartition('.')[2]}" in FALLBACKS:
        assert write_schedule(read_stored_schedule(document, seed="s")) == document
    else:
        with pytest.raises(NewerDocument, match=field):
            read_stored_schedule(document, seed="s")


@pytest.mark.parametrize("each", newer.newer_calendars(), ids=lambda each: each.path)
def test_an_unknown_field_of_a_calendar_changes_nothing(each: Newer) -> None:
    assert read_stored_calendar(each.document) == read_calendar(CALENDAR)
    with pytest.raises(InvalidInput, match=FIELD):
        read_calendar(each.document)


@pytest.mark.parametrize("each", newer.newer_graphs(), ids=lambda each: each.path)
def test_an_unknown_field_of_a_graph_changes_nothing(each: Newer) -> None:
    assert read_stored_graph(each.document) == read_graph(GRAPH)
    with pytest.raises(InvalidInput, match=FIELD):
        read_graph(each.document)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("steps", 1, "when"), "now and then"),
        (("steps", 1, "needs"), {"any": ["a"]}),
        (("steps", 0, "priority"), "urgent"),
        (("steps", 0, "guarantee"), "twice"),
        (("steps", 0, "retries"), {"max": "auto"}),
        (("steps", 1, "map", "tolerate"), {"share": 3}),
        (("steps", 1, "map", "at_once"), "auto"),
        (("steps", 2, "graph", "steps", 0, "when"), "now and then"),
    ],
    ids=str,
)
def test_an_unknown_value_in_a_graph_waits_for_newer_code(
    path: tuple[Any, ...], value: object
) -> None:
    with pytest.raises(NewerDocument):
        read_stored_graph(newer.changed(GRAPH, path, value).document)


def test_no_level_and_no_choice_of_a_policy_is_left_out() -> None:
    assert {level.struct for level in newer.levels(PolicyDraft, POLICY)} == {
        PolicyDraft,
        RetriesDraft,
    }
    assert {name for _, name in newer.choices(PolicyDraft, POLICY)} == {
        "PolicyDraft.guarantee",
        "RetriesDraft.kind",
        "RetriesDraft.jitter",
    }


@pytest.mark.parametrize("each", newer.newer_policies(), ids=lambda each: each.path)
def test_what_is_not_known_in_a_policy_is_kept_or_waits_for_newer_code(each: Newer) -> None:
    with pytest.raises(InvalidInput):
        read_policy(each.document)
    if each.path.endswith(FIELD) or each.path in newer.POLICY_FALLBACKS:
        assert write_policy(read_stored_policy(each.document)) == each.document
    else:
        with pytest.raises(NewerDocument, match=each.path):
            read_stored_policy(each.document)


@pytest.mark.parametrize("each", newer.newer_limits(), ids=lambda each: each.path)
def test_an_unknown_field_of_a_limit_changes_nothing(each: Newer) -> None:
    assert read_stored_limits([each.document]) == read_stored_limits([newer.LIMIT])


@pytest.mark.parametrize("broken", [7, "text", {"key": "k"}, [7], [{"key": "k", "max": "few"}]])
def test_limits_that_cannot_be_read_are_not_taken_for_none(broken: object) -> None:
    with pytest.raises(NewerDocument, match="limits"):
        read_stored_limits(broken)


@pytest.mark.parametrize("broken", [7, "text", [], {"retries": "many"}, {"timeout": 5}])
def test_a_policy_that_cannot_be_read_waits_for_newer_code(broken: Any) -> None:
    with pytest.raises(NewerDocument):
        read_stored_policy(broken)
