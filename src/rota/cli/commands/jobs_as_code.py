"""`rota plan`, `apply`, `diff`, `drift`, `export`: manages jobs declared in a manifest."""

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
from rota.sdk.jobs_as_code import export as export_rules
from rota.sdk.jobs_as_code import manifest, plan_text
from rota.sdk.jobs_as_code.manifest import ManifestFile
from rota.sdk.jobs_as_code.manifest_writer import render_manifest as written
from rota.sdk.jobs_as_code.problems import FileProblem, InvalidFile

if TYPE_CHECKING:
    from rota.sdk.client import Client

# The exit code of git and terraform for a difference.
DIFFERENT: Final = 2
PLACE: Final = re.compile(r"^(jobs|calendars)\[(\d+)\]\.?(?:calendar\.)?")
USUAL: Final = Path(manifest.DEFAULT_MANIFEST_FILE)


def plan(
    file: Path = USUAL,
    /,
    *,
    exit_code: Annotated[bool, SWITCH] = False,
    talk: Talk = TALK,
) -> int:
    """Show what applying a manifest would change, and which next runs would move.

    Parameters
    ----------
    file
        Manifest file, or a folder of them. Default: rota.yaml.
    exit_code
        Exit with 2 if there are changes.
    """
    declared = loaded(file)
    with talk.open() as client:
        found = look(client, declared)
    show(found, talk, prune=False)
    return DIFFERENT if exit_code and differs(found) else 0


def diff(file: Path = USUAL, /, *, talk: Talk = TALK) -> int:
    """Show the differences between a manifest and the server, one line per job.

    Parameters
    ----------
    file
        Manifest file, or a folder of them. Default: rota.yaml.
    """
    declared = loaded(file)
    with talk.open() as client:
        found = look(client, declared)
    if talk.as_json:
        write_json(found)
    else:
        write(plan_text.render_plan_briefly(found))
    return DIFFERENT if differs(found) else 0


def apply(
    file: Path = USUAL,
    /,
    *,
    prune: Annotated[bool, SWITCH] = False,
    yes: Annotated[bool, YES] = False,
    talk: Talk = TALK,
) -> int:
    """Create and update the jobs of a project to match its manifest, in one transaction.

    Parameters
    ----------
    file
        Manifest file, or a folder of them. Default: rota.yaml.
    prune
        Delete jobs of the project that are not in the manifest.
    yes
        Skip the confirmation.
    """
    return apply_manifest(loaded(file), talk, prune=prune, yes=yes)


def apply_manifest(
    declared: ManifestFile,
    talk: Talk,
    *,
    prune: bool,
    yes: bool,
    origin: ChangeOrigin = ChangeOrigin.CLI,
) -> int:
    """Show the plan, ask for confirmation, and apply exactly that plan."""
    with talk.open(origin=origin) as client:
        found = look(client, declared)
        changes = [change for change in found.changes if prune or change.action != "prune"]
        changes += found.calendars
        if talk.is_plain:
            show(found, talk, prune=prune)
        if changes and not confirm(f"Apply {counted(len(changes), 'change')}?", yes=yes):
            return 1
        with located(declared):
            done = client.apply_manifest(
                **declared.to_request(),
                prune=prune,
                seen=found.seen,
                seen_calendars=found.seen_calendars,
            )
    if talk.as_json:
        write_json(done)
    elif talk.quiet:
        write(str(each.job_id) for each in done.changes)
    elif changes:
        write(["", f"Applied {counted(len(done.changes) + len(done.calendars), 'change')}"])
    warn(done.warnings)
    return 0


def drift(file: Path = USUAL, /, *, talk: Talk = TALK) -> int:
    """Show jobs that differ from the manifest, and who changed them by hand.

    Parameters
    ----------
    file
        Manifest file, or a folder of them. Default: rota.yaml.
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
        yield f"{found.project}: no drift, {found.unchanged} jobs match the manifest"
    for calendar in found.calendars:
        yield f"calendar {calendar.name}: differs from the manifest"
    for change in found.changes:
        yield {
            "create": f"{change.name}: in the manifest, missing on the server",
            "update": f"{change.name}: differs from the manifest",
            "prune": f"{change.name}: on the server, missing in the manifest",
        }[change.action]
        for field in change.fields:
            yield f"    {field.field}: manifest {plan_text.format_value(field.after)},"
            yield f"    {' ' * len(field.field)}  server   {plan_text.format_value(field.before)}"
        if change.touched is not None:
            yield f"    {plan_text.describe_manual_change(change.touched)}"
    for name, touched in found.touched.items():
        yield f"{name}: matches the manifest; {plan_text.describe_manual_change(touched)}"


def export(
    *,
    project: str,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    talk: Talk = TALK,
) -> int:
    """Write a manifest from existing jobs: jobs of the project, and jobs without a project.

    Parameters
    ----------
    project
        Project of the manifest.
    out
        File to write; an existing file is not overwritten. Default: standard output.
    """
    with talk.open() as client:
        # A manifest may declare one-time jobs; submissions have no project.
        label = f"{export_rules.PROJECT_LABEL}:{project}"
        listed = chain(
            client.iterate(client.list_jobs, limit=200),
            client.iterate(
                client.list_jobs, limit=200, type="one_time", status="active", label=label
            ),
        )
        # Lists omit the steps of graphs.
        found = [
            client.get_job(job.job_id) if job.kind == export_rules.GRAPH else job
            for job in listed
            if export_rules.is_exported(job, project)
        ]
        calendars = export_rules.export_calendars(
            found, client.iterate(client.list_calendars, limit=200)
        )
    found.sort(key=lambda job: job.name)
    jobs = [export_rules.export_job(job) for job in found]
    deliver(written(project, jobs, calendars=calendars), out)
    if out is not None:
        warn([f"Wrote {counted(len(found), 'job')} to {out}"])
    return 0


def counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def deliver(text: str, out: Path | None) -> None:
    """Write to a new file, or to standard output."""
    if out is None:
        # No escaping for a pipe: YAML escapes control characters itself.
        stream = sys.stdout if sys.stdout.isatty() else raw_output()
        stream.write(text)
        return
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InvalidInput("--out", str(out), "the file exists already") from None
    except OSError as error:
        wanted = f"cannot write the file: {error.strerror}"
        raise InvalidInput("--out", str(out), wanted) from None


def loaded(file: Path) -> ManifestFile:
    with line_by_line():
        return manifest.load_manifest(file)


@contextmanager
def line_by_line() -> Iterator[None]:
    """Print each error of a manifest on its own line."""
    try:
        yield
    except InvalidFile as refused:
        warn([str(each) for each in refused.problems[:-1]])
        raise InvalidFile(refused.problems[-1:]) from None


def look(client: "Client", declared: ManifestFile) -> Any:
    with located(declared):
        return client.plan_manifest(**declared.to_request())


@contextmanager
def located(declared: ManifestFile) -> Iterator[None]:
    """Translate pointers of the server's errors to lines of the manifest."""
    from rota.sdk.client import ApiError  # noqa: PLC0415 - imports the HTTP library

    try:
        yield
    except ApiError as error:
        found = [declared.locate(each.pointer) for each in error.errors]
        spots = [spot for spot in found if spot is not None]
        if error.status != 422 or not spots:
            raise
        # Name the job instead of its index in the request.
        detail = PLACE.sub(lambda place: f"{named(declared, place)}: ", error.detail, count=1)
        raise InvalidFile([FileProblem(spot, detail) for spot in spots]) from None


def named(declared: ManifestFile, place: re.Match[str]) -> str:
    things = declared.jobs if place[1] == "jobs" else declared.calendars
    return things[int(place[2])].name


def show(found: Any, talk: Talk, *, prune: bool) -> None:
    if talk.as_json:
        write_json(found)
    else:
        write([plan_text.summarize_plan(found), *plan_text.render_plan(found, prune=prune)])
