"""`rota plan`, `apply`, `diff`, `drift`, `export`: jobs as code. Room: cli."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Parameter

from rota.cli.asking import confirm
from rota.cli.options import SWITCH, TALK, YES, Talk, warn, write, write_json
from rota.cli.terminal import raw_output
from rota.core.errors import InvalidInput
from rota.core.origins import ChangeOrigin
from rota.sdk.code import exporting, manifest, showing
from rota.sdk.code.manifest import Manifest
from rota.sdk.code.problems import FileRefused, Wrong
from rota.sdk.code.writing import write as written

if TYPE_CHECKING:
    from rota.sdk.client import Client

# As git and terraform have it: there is a difference.
DIFFERENT: Final = 2
PLACE: Final = re.compile(r"^(jobs|calendars)\[(\d+)\]\.?(?:calendar\.)?")
USUAL: Final = Path(manifest.USUAL)


def plan(
    file: Path = USUAL,
    /,
    *,
    exit_code: Annotated[bool, SWITCH] = False,
    talk: Talk = TALK,
) -> int:
    """Show what applying a file would change, and which next runs would move.

    Parameters
    ----------
    file
        The file, or a folder of them.
    exit_code
        End with 2 if there is anything to do.
    """
    declared = loaded(file)
    with talk.open() as client:
        found = look(client, declared)
    show(found, talk, prune=False)
    return DIFFERENT if exit_code and differs(found) else 0


def diff(file: Path = USUAL, /, *, talk: Talk = TALK) -> int:
    """Show in one line for each job what a file and the server do not agree on.

    Parameters
    ----------
    file
        The file, or a folder of them.
    """
    declared = loaded(file)
    with talk.open() as client:
        found = look(client, declared)
    if talk.as_json:
        write_json(found)
    else:
        write(showing.terse(found))
    return DIFFERENT if differs(found) else 0


def apply(
    file: Path = USUAL,
    /,
    *,
    prune: Annotated[bool, SWITCH] = False,
    yes: Annotated[bool, YES] = False,
    talk: Talk = TALK,
) -> int:
    """Make the jobs of a project what its file says: all of it or nothing.

    Parameters
    ----------
    file
        The file, or a folder of them.
    prune
        Delete the jobs of the project that are not in the file.
    yes
        Do not ask.
    """
    return apply_manifest(loaded(file), talk, prune=prune, yes=yes)


def apply_manifest(
    declared: Manifest,
    talk: Talk,
    *,
    prune: bool,
    yes: bool,
    origin: ChangeOrigin = ChangeOrigin.CLI,
) -> int:
    """Show the plan, ask, and apply exactly that."""
    with talk.open(origin=origin) as client:
        found = look(client, declared)
        doing = [each for each in found.changes if prune or each.action != "prune"]
        doing += found.calendars
        if talk.is_plain:
            show(found, talk, prune=prune)
        if doing and not confirm(f"Apply {counted(len(doing), 'change')}?", yes=yes):
            return 1
        with located(declared):
            done = client.apply_manifest(
                **declared.body(),
                prune=prune,
                seen=found.seen,
                seen_calendars=found.seen_calendars,
            )
    if talk.as_json:
        write_json(done)
    elif talk.quiet:
        write(str(each.job_id) for each in done.changes)
    elif doing:
        write(["", f"applied: {counted(len(done.changes) + len(done.calendars), 'change')}"])
    warn(done.warnings)
    return 0


def drift(file: Path = USUAL, /, *, talk: Talk = TALK) -> int:
    """Show which jobs of the project are not as the file says, and who changed them by hand.

    Parameters
    ----------
    file
        The file, or a folder of them.
    """
    declared = loaded(file)
    with talk.open() as client:
        found = look(client, declared)
    if talk.as_json:
        write_json(found)
    else:
        write(drifted(found))
    return DIFFERENT if differs(found) or found.touched else 0


def differs(found: Any) -> bool:
    return bool(found.changes or found.calendars)


def drifted(found: Any) -> Iterator[str]:
    if not differs(found) and not found.touched:
        yield f"{found.project}: no drift, {found.unchanged} jobs are as declared"
    for calendar in found.calendars:
        yield f"calendar {calendar.name}: not as in the file"
    for change in found.changes:
        yield {
            "create": f"{change.name}: in the file, and not there",
            "update": f"{change.name}: not as in the file",
            "prune": f"{change.name}: of the project, and not in the file",
        }[change.action]
        for field in change.fields:
            yield f"    {field.field}: {showing.shown(field.after)} is declared,"
            yield f"    {' ' * len(field.field)}  {showing.shown(field.before)} is there"
        if change.touched is not None:
            yield f"    {showing.touched(change.touched)}"
    for name, touched in found.touched.items():
        yield f"{name}: as in the file, and {showing.touched(touched)}"


def export(
    *,
    project: str,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    talk: Talk = TALK,
) -> int:
    """Write a file from the jobs that are there: those of the project, and those of nobody.

    Parameters
    ----------
    project
        The project of the file.
    out
        The file to write (default: standard output). One that is there is not overwritten.
    """
    with talk.open() as client:
        # A file may declare jobs that run once, too; submissions have no project.
        label = f"{exporting.LABEL}:{project}"
        listed = chain(
            client.each(client.list_jobs, limit=200),
            client.each(client.list_jobs, limit=200, type="one_time", status="active", label=label),
        )
        # Lists leave the steps of graphs out.
        found = [
            client.get_job(job.job_id) if job.kind == exporting.GRAPH else job
            for job in listed
            if exporting.belongs(job, project)
        ]
        calendars = exporting.calendars(found, client.each(client.list_calendars, limit=200))
    found.sort(key=lambda job: job.name)
    jobs = [exporting.declared(job) for job in found]
    deliver(written(project, jobs, calendars=calendars), out)
    if out is not None:
        warn([f"written to {out}: {counted(len(found), 'job')}"])
    return 0


def counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def deliver(text: str, out: Path | None) -> None:
    """To a new file, or to standard output."""
    if out is None:
        # A file of jobs is written as it is. YAML has escapes of its own for control characters.
        stream = sys.stdout if sys.stdout.isatty() else raw_output()
        stream.write(text)
        return
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InvalidInput("--out", str(out), "a file that is not there yet") from None
    except OSError as error:
        wanted = f"a file that can be written: {error.strerror}"
        raise InvalidInput("--out", str(out), wanted) from None


def loaded(file: Path) -> Manifest:
    with line_by_line():
        return manifest.load(file)


@contextmanager
def line_by_line() -> Iterator[None]:
    """Of many things that are wrong each has a line of its own."""
    try:
        yield
    except FileRefused as refused:
        warn([str(each) for each in refused.wrongs[:-1]])
        raise FileRefused(refused.wrongs[-1:]) from None


def look(client: "Client", declared: Manifest) -> Any:
    with located(declared):
        return client.plan_manifest(**declared.body())


@contextmanager
def located(declared: Manifest) -> Iterator[None]:
    """What the server points at in the request is told by its line in the file."""
    from rota.sdk.client import ApiError  # noqa: PLC0415 — brings the HTTP library with it

    try:
        yield
    except ApiError as error:
        found = [declared.locate(each.pointer) for each in error.errors]
        spots = [spot for spot in found if spot is not None]
        if error.status != 422 or not spots:
            raise
        # The file knows its jobs by name, and not by their place in the request.
        said = PLACE.sub(lambda place: f"{named(declared, place)}: ", error.detail, count=1)
        raise FileRefused([Wrong(spot, said) for spot in spots]) from None


def named(declared: Manifest, place: re.Match[str]) -> str:
    things = declared.jobs if place[1] == "jobs" else declared.calendars
    return things[int(place[2])].name


def show(found: Any, talk: Talk, *, prune: bool) -> None:
    if talk.as_json:
        write_json(found)
    else:
        write([showing.counted(found), *showing.lines(found, prune=prune)])
