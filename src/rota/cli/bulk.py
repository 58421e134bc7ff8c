"""Many runs at once: counted first, then asked about, then done. Room: cli."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from cyclopts import Group, Parameter

from rota.cli import naming, times
from rota.cli.asking import confirm
from rota.cli.errors import Misused
from rota.cli.listing import said
from rota.cli.options import Talk

MANY: Final = Group("Many at once", sort_key=3)


@Parameter(name="*", group=MANY)
@dataclass(frozen=True, slots=True, kw_only=True)
class Many:
    """Which runs.

    Parameters
    ----------
    job
        Those of this job: its name or its id.
    kind
        Those of this kind.
    queue
        Those in this queue.
    fingerprint
        Failures with this fingerprint, of one group of `rota dead groups` together with --kind.
        Default: any.
    since
        Those that ended since, or, if unfinished, were made since: a time, or how long ago.
    until
        Those that ended, or were made, before: a time, or how long ago.
    """

    job: str | None = None
    kind: str | None = None
    queue: str | None = None
    error: Annotated[
        str | None, Parameter(help="Those that failed with this type of error. Default: any.")
    ] = None
    fingerprint: str | None = None
    since: str | None = None
    until: str | None = None

    def filters(self, client: Any) -> dict[str, Any]:
        found = said(
            job_id=None if self.job is None else naming.job_id(client, self.job),
            kind=self.kind,
            queue=self.queue,
            error=self.error,
            fingerprint=self.fingerprint,
            since=times.instant(self.since, field="--since"),
            until=times.instant(self.until, field="--until"),
        )
        if not found:
            wanted = (
                "which runs? Say ids, or some of --job, --kind, --queue, --error, --fingerprint,"
                " --since, --until"
            )
            raise Misused(wanted)
        return found

    def refuse_beside(self, runs: Sequence[str]) -> None:
        if self != NOBODY:
            raise Misused(f"either ids or options that choose, not both: {', '.join(runs)}")


NOBODY: Final = Many()


def do_many(
    call: Callable[..., Any], which: dict[str, Any], verb: str, *, yes: bool, talk: Talk
) -> int:
    """Count, ask, and do it in as many calls as it takes; each does a bounded number."""
    counted = call(filter=which, dry_run=True)
    if not counted.matched or counted.token is None:
        talk.done(counted, "there are no such runs", id_=0)
        return 0
    question = f"{verb} {counted.matched} run{'' if counted.matched == 1 else 's'}?"
    if not confirm(question, yes=yes):
        return 1
    number, token = 0, counted.token
    while token is not None:
        done = call(filter=which, token=token)
        number += done.done
        token = done.token if done.done else None
    told = {"matched": counted.matched, "done": number, "token": None}
    talk.done(told, f"done to {number} run{'' if number == 1 else 's'}", id_=number)
    return 0
