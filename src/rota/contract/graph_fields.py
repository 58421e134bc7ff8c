"""Defines the fields of a graph: names, types, bounds and descriptions.

graph.py reads documents by these structs.
"""

from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from rota.contract.documents import ALLOWED_KEY
from rota.core.graphs.graph import GRAPH_LEVELS_MAX, GRAPH_STEPS_MAX, MAP_AT_ONCE_MAX, StepCondition
from rota.core.graphs.step_draft import MAP_ITEMS_MAX, STEP_NAME_FORMAT, TOLERANCE_FORMAT
from rota.core.submissions import NAME_CHARACTERS_MAX

NAME_ALLOWED: Final = f"text of 1 to {NAME_CHARACTERS_MAX} characters"
OVER_ALLOWED: Final = (
    "an expression that yields a list or a number, a list, or a number up to 1,000,000"
)
STEPS_ALLOWED: Final = f"a list of 1 to {GRAPH_STEPS_MAX} steps"
GRAPH_ALLOWED: Final = "an object with steps, such as {steps: [{name: a, kind: shell}]}"
NEST_WANTED: Final = f"graphs can be nested at most {GRAPH_LEVELS_MAX} levels deep"


class MapSourceDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The handler that yields the items of a map."""

    kind: Annotated[
        str,
        Meta(description="Kind of the handler.", extra={ALLOWED_KEY: NAME_ALLOWED}),
    ]
    payload: Annotated[
        Any, Meta(description="Payload of the handler; may have placeholders. Default: null.")
    ] = None


class MapDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Runs a step once per item. Either `over` or `source` is required."""

    over: Annotated[
        str | list[Any] | Annotated[int, Meta(ge=0, le=MAP_ITEMS_MAX)] | None,
        Meta(
            description="Items of the map: a list, a number, or an expression that yields one. "
            "Default: the items from `source`.",
            extra={ALLOWED_KEY: OVER_ALLOWED},
        ),
    ] = None
    source: Annotated[
        MapSourceDocument | None,
        Meta(description="Handler that yields the items. Default: the items in `over`."),
    ] = None
    tolerate: Annotated[
        Annotated[int, Meta(ge=0, le=MAP_ITEMS_MAX)] | str | None,
        Meta(
            description="Members that may fail: a number, or a percentage such as `5%`. "
            "Default: 0.",
            extra={ALLOWED_KEY: TOLERANCE_FORMAT},
        ),
    ] = None
    at_once: Annotated[
        Annotated[int, Meta(ge=1, le=MAP_AT_ONCE_MAX)] | None,
        Meta(
            description="Maximum number of concurrent members. "
            "Default: as many as the workers can run."
        ),
    ] = None


class StepDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One step of a graph. `kind` or `graph` is required."""

    name: Annotated[
        str,
        Meta(
            description="Name of the step, used in `needs` and in expressions.",
            extra={ALLOWED_KEY: STEP_NAME_FORMAT},
        ),
    ]
    kind: Annotated[
        str | None,
        Meta(
            description="Handler that runs the step. Default: none; then `graph` is required.",
            extra={ALLOWED_KEY: NAME_ALLOWED},
        ),
    ] = None
    needs: Annotated[
        Annotated[list[str], Meta(max_length=GRAPH_STEPS_MAX)] | None,
        Meta(
            description="Names of the steps that must finish before it starts. Default: none.",
            extra={ALLOWED_KEY: f"a list of at most {GRAPH_STEPS_MAX} step names"},
        ),
    ] = None
    when: Annotated[
        str | None,
        Meta(
            description="Condition on the steps in `needs`: `success`, `failure`, `always`, "
            "`none_failed`, or an expression. Default: `success`.",
            extra={ALLOWED_KEY: f"one of {', '.join(StepCondition)}, or an expression"},
        ),
    ] = None
    payload: Annotated[
        Any,
        Meta(
            description="Payload of the step; "
            '`{"$": "steps.a.result"}` is replaced by that value. Default: null.'
        ),
    ] = None
    map: Annotated[
        MapDocument | None,
        Meta(description="Run the step once per item. Default: the step runs once."),
    ] = None
    graph: Annotated[
        "GraphDocument | None",
        Meta(
            description="Sub-graph that runs as this step. Default: none; the step runs `kind`.",
            extra={ALLOWED_KEY: GRAPH_ALLOWED},
        ),
    ] = None
    may_fail: Annotated[
        bool | None,
        Meta(description="The graph can succeed even if this step fails. Default: false."),
    ] = None
    queue: Annotated[
        str | None,
        Meta(
            description="Queue of the step. Default: the job's queue.",
            extra={ALLOWED_KEY: NAME_ALLOWED},
        ),
    ] = None
    priority: Annotated[
        int | str | None,
        Meta(
            description="Priority: `high`, `normal`, `low`, or 0 (first) to 9 (last). "
            "Default: the job's priority.",
            extra={ALLOWED_KEY: "'high', 'normal', 'low', or 0 to 9"},
        ),
    ] = None
    retries: Annotated[
        Any,
        Meta(
            description="Number of retries, or an object with delays as in a job. "
            "Default: the job's retries."
        ),
    ] = None
    timeout: Annotated[
        Any, Meta(description="Time limit of one attempt, or `none`. Default: the job's timeout.")
    ] = None
    deadline: Annotated[
        Any,
        Meta(description="Time limit of the step with all its retries. Default: no limit."),
    ] = None
    grace: Annotated[
        Any,
        Meta(
            description="Time between asking an attempt to stop and killing it. "
            "Default: the job's grace."
        ),
    ] = None
    guarantee: Annotated[
        Any,
        Meta(description="Delivery guarantee if a worker is lost. Default: the job's guarantee."),
    ] = None
    target: Annotated[
        Any,
        Meta(description="Service that the attempts depend on. Default: the job's target."),
    ] = None


class GraphDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The steps of a job of kind `graph`."""

    steps: Annotated[
        list[StepDocument],
        Meta(
            min_length=1,
            max_length=GRAPH_STEPS_MAX,
            description="Steps of the graph, in any order.",
            extra={ALLOWED_KEY: STEPS_ALLOWED},
        ),
    ]
