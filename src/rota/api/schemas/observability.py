"""Schemas of scrape targets and of the demand of a queue."""

from typing import Annotated

from msgspec import Meta, Struct


class TargetGroup(Struct, kw_only=True, frozen=True):
    """Targets with the same labels, in the form of Prometheus' HTTP service discovery."""

    targets: Annotated[list[str], Meta(description="Host and port of each listener.")]
    labels: Annotated[
        dict[str, str],
        Meta(
            description="`role`, `version` and `process`. The group of the cluster's metrics has "
            "`__metrics_path__` and a fixed `instance` instead."
        ),
    ]


class DemandView(Struct, kw_only=True, frozen=True):
    """The demand of a queue: how many slots it could use."""

    queue: str
    demand: Annotated[int, Meta(description="The sum of the other counts.")]
    ready: Annotated[
        int,
        Meta(
            description="Runs that wait for a worker. 0 while the queue is paused; at most 200,000."
        ),
    ]
    running: Annotated[int, Meta(description="Runs that hold a slot.")]
    upcoming: Annotated[
        int,
        Meta(
            description="Ticks, submissions and retries that become ready within 60 seconds. 0 "
            "while the queue is paused."
        ),
    ]
