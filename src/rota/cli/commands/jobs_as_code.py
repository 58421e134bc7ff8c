"""`rota plan`, `apply`, `diff`, `drift`, `export`: manages jobs declared in a manifest."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Parameter

from rota.cli.api_options import (
    DEFAULT_API_OPTIONS,
    SWITCH,
    YES_FLAG,
    ApiOptions,
    print_json,
    print_lines,
    print_warnings,
)
from rota.cli.prompts import confirm
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
EXIT_DIFFERENT: Final = 2
REQUEST_PATH: Final = re.compile(r"^(jobs|calendars|alerts|routes)\[(\d+)\]\.?(?:calendar\.)?")
DEFAULT_MANIFEST: Final = Path(manifest.DEFAULT_MANIFEST_FILE)


def plan(
    file: Path = DEFAULT_MANIFEST,
    /,
    *,
    exit_code: Annotated[bool, SWITCH] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Show what applying a manifest would change, and which next runs would move.

    Parameters
    ----------
    file
        Manifest file, or a folder of them. Default: rota.yaml.
    exit_code
        Exit with 2 if there are changes.
    """
    declared = load_manifest(file)
    with api_options.open_client() as client:
        found = request_plan(client, declared)
    print_plan(found, api_options, prune=False)
    return EXIT_DIFFERENT if exit_code and has_differences(found) else 0


def diff(file: Path = DEFAULT_MANIFEST, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Show the differences between a manifest and the server, one line per job.

    Parameters
    ----------
    file
        Manifest file, or a folder of them. Default: rota.yaml.
    """
    declared = load_manifest(file)
    with api_options.open_client() as client:
        found = request_plan(client, declared)
    if api_options.as_json:
        print_json(found)
    else:
        print_lines(plan_text.render_plan_briefly(found))
    return EXIT_DIFFERENT if has_differences(found) else 0


def apply(
    file: Path = DEFAULT_MANIFEST,
    /,
    *,
    prune: Annotated[bool, SWITCH] = False,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
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
    return apply_manifest(load_manifest(file), api_options, prune=prune, yes=yes)


def apply_manifest(
    declared: ManifestFile,
    api_options: ApiOptions,
    *,
    prune: bool,
    yes: bool,
    origin: ChangeOrigin = ChangeOrigin.CLI,
) -> int:
    """Show the plan, ask for confirmation, and apply exactly that plan."""
    with api_options.open_client(origin=origin) as client:
        found = request_plan(client, declared)
        changes = [change for change in found.changes if prune or change.action != "prune"]
        changes += found.calendars
        changes += [change for change in found.alerts if prune or change.action != "prune"]
        if api_options.is_plain:
            print_plan(found, api_options, prune=prune)
        if changes and not confirm(f"Apply {format_count(len(changes), 'change')}?", yes=yes):
            return 1
        with locate_errors(declared):
            done = client.apply_manifest(
                **declared.to_request(),
                prune=prune,
                seen=found.seen,
                seen_calendars=found.seen_calendars,
                seen_alerts=found.seen_alerts,
            )
    if api_options.as_json:
        print_json(done)
    elif api_options.quiet:
        print_lines(str(each.job_id) for each in done.changes)
    elif changes:
        count = len(done.changes) + len(done.calendars) + len(done.alerts)
        print_lines(["", f"Applied {format_count(count, 'change')}"])
    print_warnings(done.warnings)
    return 0


def drift(
    file: Path = DEFAULT_MANIFEST, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """Show jobs that differ from the manifest, and who changed them by hand.

    Parameters
    ----------
    file
        Manifest file, or a folder of them. Default: rota.yaml.
    """
    declared = load_manifest(file)
    with api_options.open_client() as client:
        found = request_plan(client, declared)
    if api_options.as_json:
        print_json(found)
    else:
        print_lines(describe_drift(found))
    return EXIT_DIFFERENT if has_differences(found) or found.touched else 0


def has_differences(found: Any) -> bool:
    return bool(found.changes or found.calendars or found.alerts)


def describe_drift(found: Any) -> Iterator[str]:
    if not has_differences(found) and not found.touched:
        yield f"{found.project}: no drift, {found.unchanged} jobs match the manifest"
    for calendar in found.calendars:
        yield f"calendar {calendar.name}: differs from the manifest"
    for alert in found.alerts:
        yield describe_drifted(f"{alert.thing} {alert.name}", alert.action)
    for change in found.changes:
        yield describe_drifted(change.name, change.action)
        for field in change.fields:
            yield f"    {field.field}: manifest {plan_text.format_value(field.after)},"
            yield f"    {' ' * len(field.field)}  server   {plan_text.format_value(field.before)}"
        if change.touched is not None:
            yield f"    {plan_text.describe_manual_change(change.touched)}"
    for name, touched in found.touched.items():
        yield f"{name}: matches the manifest; {plan_text.describe_manual_change(touched)}"


def describe_drifted(name: str, action: str) -> str:
    return {
        "create": f"{name}: in the manifest, missing on the server",
        "update": f"{name}: differs from the manifest",
        "prune": f"{name}: on the server, missing in the manifest",
    }[action]


def export(
    *,
    project: str,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Write a manifest from existing jobs: jobs of the project, and jobs without a project.

    Parameters
    ----------
    project
        Project of the manifest.
    out
        File to write; an existing file is not overwritten. Default: standard output.
    """
    with api_options.open_client() as client:
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
        alerts = export_rules.export_alerts(
            client.iterate(client.list_expectations, limit=200), project
        )
        routes = export_rules.export_routes(client.iterate(client.list_routes, limit=200), project)
    found.sort(key=lambda job: job.name)
    jobs = [export_rules.export_job(job) for job in found]
    alerting = {"alerts": alerts, "routes": routes}
    write_manifest(written(project, jobs, calendars=calendars, alerting=alerting), out)
    if out is not None:
        print_warnings([f"Wrote {format_count(len(found), 'job')} to {out}"])
    return 0


def format_count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def write_manifest(text: str, out: Path | None) -> None:
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


def load_manifest(file: Path) -> ManifestFile:
    with print_each_error():
        return manifest.load_manifest(file)


@contextmanager
def print_each_error() -> Iterator[None]:
    """Print each error of a manifest on its own line."""
    try:
        yield
    except InvalidFile as refused:
        print_warnings([str(each) for each in refused.problems[:-1]])
        raise InvalidFile(refused.problems[-1:]) from None


def request_plan(client: "Client", declared: ManifestFile) -> Any:
    with locate_errors(declared):
        return client.plan_manifest(**declared.to_request())


@contextmanager
def locate_errors(declared: ManifestFile) -> Iterator[None]:
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
        detail = REQUEST_PATH.sub(
            lambda place: f"{get_declared_name(declared, place)}: ", error.detail, count=1
        )
        raise InvalidFile([FileProblem(spot, detail) for spot in spots]) from None


def get_declared_name(declared: ManifestFile, match: re.Match[str]) -> str:
    return declared.list_entries(match[1])[int(match[2])].name


def print_plan(found: Any, api_options: ApiOptions, *, prune: bool) -> None:
    if api_options.as_json:
        print_json(found)
    else:
        print_lines([plan_text.summarize_plan(found), *plan_text.render_plan(found, prune=prune)])
