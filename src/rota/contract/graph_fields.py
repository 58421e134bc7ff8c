"""The fields of a graph: names, types, bounds and descriptions. Room: contract.

They are read in graph.py.
"""

from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from rota.contract.documents import ALLOWED
from rota.core.graphs.draft import MAP_ITEMS_MAX, STEP_NAME_WANTED, TOLERANCE_WANTED
from rota.core.graphs.graph import MOST_AT_ONCE, MOST_LEVELS, MOST_STEPS, When
from rota.core.submission import MOST_NAME

NAME_ALLOWED: Final = f"a text of 1 to {MOST_NAME} characters"
OVER_ALLOWED: Final = "an expression for a list or a number, a list, or a number up to 1,000,000"
STEPS_ALLOWED: Final = f"a list of at least one step, at most {MOST_STEPS}"
GRAPH_ALLOWED: Final = "an object with steps, such as {steps: [{name: a, kind: shell}]}"
NEST_WANTED: Final = f"at most {MOST_LEVELS} graphs in each other"


class MapSourceDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The handler that yields the items of a map."""

    kind: Annotated[
        str,
        Meta(description="The kind of the handler.", extra={ALLOWED: NAME_ALLOWED}),
    ]
    payload: Annotated[
        Any, Meta(description="Its payload, which may have places to fill. Default: null.")
    ] = None


class MapDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A step with many members: one for each item. Either `over` or `source` is required."""

    over: Annotated[
        str | list[Any] | Annotated[int, Meta(ge=0, le=MAP_ITEMS_MAX)] | None,
        Meta(
            description="An expression for a list or a number, or a list or number itself. "
            "Default: `source` yields the items.",
            extra={ALLOWED: OVER_ALLOWED},
        ),
    ] = None
    source: Annotated[
        MapSourceDocument | None,
        Meta(description="The handler that yields the items. Default: they are `over`."),
    ] = None
    tolerate: Annotated[
        Annotated[int, Meta(ge=0, le=MAP_ITEMS_MAX)] | str | None,
        Meta(
            description="How many members may fail: a number, or a share such as `5%`. Default: 0.",
            extra={ALLOWED: TOLERANCE_WANTED},
        ),
    ] = None
    at_once: Annotated[
        Annotated[int, Meta(ge=1, le=MOST_AT_ONCE)] | None,
        Meta(
            description="How many members may run at a time. Default: as many as the workers take."
        ),
    ] = None


class StepDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One step of a graph. `kind` or `graph` is required."""

    name: Annotated[
        str,
        Meta(
            description="The name by which `needs` and expressions refer to it.",
            extra={ALLOWED: STEP_NAME_WANTED},
        ),
    ]
    kind: Annotated[
        str | None,
        Meta(
            description="The kind of the handler. Default: a sub-graph in `graph`.",
            extra={ALLOWED: NAME_ALLOWED},
        ),
    ] = None
    needs: Annotated[
        Annotated[list[str], Meta(max_length=MOST_STEPS)] | None,
        Meta(
            description="Names of the steps that must be final before it starts. Default: none.",
            extra={ALLOWED: f"a list of names of steps, at most {MOST_STEPS}"},
        ),
    ] = None
    when: Annotated[
        str | None,
        Meta(
            description="What the steps in `needs` must have come to: `success`, `failure`, "
            "`always`, `none_failed`, or an expression. Default: success.",
            extra={ALLOWED: f"one of {', '.join(When)}, or an expression"},
        ),
    ] = None
    payload: Annotated[
        Any,
        Meta(
            description='The payload; `{"$": "steps.a.result"}` stands for a value. Default: null.'
        ),
    ] = None
    map: Annotated[
        MapDocument | None,
        Meta(description="Makes the step many members. Default: one."),
    ] = None
    graph: Annotated[
        "GraphDocument | None",
        Meta(
            description="A graph that runs as this step. Default: the step is a run of `kind`.",
            extra={ALLOWED: GRAPH_ALLOWED},
        ),
    ] = None
    may_fail: Annotated[
        bool | None,
        Meta(description="The graph may succeed although this step failed. Default: false."),
    ] = None
    queue: Annotated[
        str | None,
        Meta(description="Its queue. Default: the job's.", extra={ALLOWED: NAME_ALLOWED}),
    ] = None
    priority: Annotated[
        int | str | None,
        Meta(
            description="`high`, `normal`, `low`, or 0 to 9. Default: the job's.",
            extra={ALLOWED: "'high', 'normal', 'low', or 0 to 9"},
        ),
    ] = None
    retries: Annotated[
        Any, Meta(description="A number of retries, or an object as a job has. Default: the job's.")
    ] = None
    timeout: Annotated[
        Any, Meta(description="The time limit of an attempt, or `none`. Default: the job's.")
    ] = None
    deadline: Annotated[
        Any, Meta(description="The time limit of the step with its retries. Default: none.")
    ] = None
    grace: Annotated[
        Any,
        Meta(
            description="The time between asking an attempt to stop and ending it by force. "
            "Default: the job's."
        ),
    ] = None
    guarantee: Annotated[
        Any, Meta(description="As the guarantee of a job. Default: the job's.")
    ] = None
    target: Annotated[Any, Meta(description="What its attempts depend on. Default: the job's.")] = (
        None
    )


class GraphDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Steps that wait for each other."""

    steps: Annotated[
        list[StepDocument],
        Meta(
            min_length=1,
            max_length=MOST_STEPS,
            description="The steps, in any order.",
            extra={ALLOWED: STEPS_ALLOWED},
        ),
    ]
