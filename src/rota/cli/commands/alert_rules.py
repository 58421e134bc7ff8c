"""`rota alerts rules`, `rota alerts routes`, `rota alerts rehearse`: what is expected of jobs, and
who receives messages.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import App, Parameter

from rota.cli import times
from rota.cli.api_options import (
    DEFAULT_API_OPTIONS,
    REPEATABLE,
    SWITCH,
    YES_FLAG,
    ApiOptions,
    print_json,
    print_warnings,
)
from rota.cli.argument_values import parse_labels, parse_settings, read_document
from rota.cli.commands.jobs_as_code import load_manifest
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, drop_empty, list_rows, print_more_hint
from rota.cli.prompts import confirm
from rota.cli.tables import TableColumn
from rota.core.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from rota.sdk.client import Client

EXPECTATION_PREFIX: Final = "exp_"

rules_app = App(name="rules", help="Rules over many jobs: list, show, create, edit, delete.")
routes_app = App(name="routes", help="Routes of alerts: list, show, set, delete.")


@rules_app.command(name="list")
def list_rules(
    *, row_limit: ListLimit = DEFAULT_LIMIT, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """List rules by name."""
    with api_options.open_client() as client:
        found = list_rows(client.list_expectations, row_limit=row_limit)
    columns: list[TableColumn[Any]] = [
        TableColumn("NAME", lambda each: each.name, flexible=True),
        TableColumn("WHEN", lambda each: format_document(each.when), flexible=True),
        TableColumn("MATCH", lambda each: format_document(each.match) or "every job"),
        TableColumn("SEVERITY", lambda each: each.severity),
        TableColumn("TO", lambda each: each.to or "default channels"),
        TableColumn("ENABLED", lambda each: "yes" if each.enabled else "no"),
    ]
    api_options.print_rows(found.rows, columns, ids="expectation_id", empty="No rules")
    print_more_hint(found, api_options)
    return 0


def format_document(document: Any, prefix: str = "") -> str:
    """Format a document as `name=value` pairs, as the options of `create` take them."""
    parts: list[str] = []
    for name, value in document.items():
        if isinstance(value, dict):
            parts.append(format_document(value, f"{prefix}{name}."))
        else:
            parts.append(f"{prefix}{name}={value}")
    return " ".join(parts)


@rules_app.command
def show(rule: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Show a rule.

    Parameters
    ----------
    rule
        Name or id of the rule.
    """
    with api_options.open_client() as client:
        found = find_rule(client, rule)
    now = times.now()
    facts = [
        ("id", found.expectation_id),
        ("name", found.name),
        ("when", format_document(found.when)),
        ("match", format_document(found.match) or "every job"),
        ("to", found.to or "default channels"),
        ("severity", found.severity),
        ("for", found.hold_for),
        ("clear", found.clear),
        ("recovery", "yes" if found.recovery else "no"),
        ("enabled", "yes" if found.enabled else "no"),
        ("project", found.project),
        ("version", found.version),
        ("updated", times.format_relative(found.updated_at, now)),
    ]
    api_options.print_record(found, facts, ids="expectation_id")
    return 0


@rules_app.command
def create(
    name: str,
    /,
    *,
    when: Annotated[list[str], REPEATABLE],
    match: Annotated[list[str] | None, REPEATABLE] = None,
    label: Annotated[list[str] | None, REPEATABLE] = None,
    alert: Annotated[list[str] | None, REPEATABLE] = None,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Create a rule: one condition for all jobs, steps, tasks or queues that match.

    Parameters
    ----------
    name
        Name of the rule.
    when
        The condition, such as failures.streak=2, succeed_every=26h or no_worker=2m. A condition
        with several fields takes the option several times.
    match
        What the rule applies to, such as job=nightly*, task=send*, queue=slow or step=load
        (repeatable). Default: every job.
    label
        Label that the job must have, such as team=billing (repeatable). Default: any.
    alert
        How it is reported, such as to=team-billing, severity=page or for=5m (repeatable). Default:
        a warning to the default channels.
    """
    with api_options.open_client() as client:
        done = client.create_expectation(
            name=name,
            when=parse_settings(when, field="--when") or {},
            match=build_selector(match, label),
            **build_policy(alert),
        )
    api_options.print_result(done, f"Created rule {done.name}", id_=done.expectation_id)
    print_warnings(done.warnings)
    return 0


def build_selector(match: list[str] | None, label: list[str] | None) -> dict[str, Any]:
    selector = parse_settings(match or [], field="--match") or {}
    return selector | {"labels": parse_labels(label)} if label else selector


def build_policy(alert: list[str] | None) -> dict[str, Any]:
    """Return how a rule is reported, by the names of the client's arguments."""
    policy = parse_settings(alert or [], field="--alert") or {}
    return {"hold_for" if name == "for" else name: value for name, value in policy.items()}


@rules_app.command
def edit(
    rule: str,
    /,
    *,
    when: Annotated[list[str] | None, REPEATABLE] = None,
    match: Annotated[list[str] | None, REPEATABLE] = None,
    alert: Annotated[list[str] | None, REPEATABLE] = None,
    enabled: Annotated[bool | None, Parameter(negative="--disabled")] = None,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Change a rule. Fields that are not given keep their values.

    Parameters
    ----------
    rule
        Name or id of the rule.
    when
        The new condition, such as failures.streak=2. Default: unchanged.
    match
        What the rule applies to, such as job=nightly* or labels.team=billing (repeatable); replaces
        the whole selector. Default: unchanged.
    alert
        How it is reported, such as to=team-billing or severity=page (repeatable). Default:
        unchanged.
    enabled
        Whether it is checked. Default: unchanged.
    """
    given: dict[str, Any] = build_policy(alert)
    given |= {} if when is None else {"when": parse_settings(when, field="--when") or {}}
    given |= {} if match is None else {"match": build_selector(match, None)}
    given |= {} if enabled is None else {"enabled": enabled}
    with api_options.open_client() as client:
        found = find_rule(client, rule)
        done = client.update_expectation(found.expectation_id, **given)
    sentence = f"Changed rule {done.name}, version {done.version}"
    api_options.print_result(done, sentence, id_=done.expectation_id)
    print_warnings(done.warnings)
    return 0


@rules_app.command
def delete(
    rule: str,
    /,
    *,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Delete a rule. Its open incidents end.

    Parameters
    ----------
    rule
        Name or id of the rule.
    yes
        Skip the confirmation.
    """
    with api_options.open_client() as client:
        found = find_rule(client, rule)
        if not confirm(f"Delete rule {found.name}?", yes=yes):
            return 1
        client.delete_expectation(found.expectation_id)
    api_options.print_result(found, f"Deleted rule {found.name}", id_=found.expectation_id)
    return 0


def find_rule(client: "Client", rule: str) -> Any:
    """Return a rule by its id or its name."""
    if rule.startswith(EXPECTATION_PREFIX):
        return client.get_expectation(rule)
    for found in client.iterate(client.list_expectations, limit=200):
        if found.name == rule:
            return found
    raise NotFound("rule", rule)


@routes_app.command(name="list")
def list_routes(
    *, row_limit: ListLimit = DEFAULT_LIMIT, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """List routes by name."""
    with api_options.open_client() as client:
        found = list_rows(client.list_routes, row_limit=row_limit)
    columns: list[TableColumn[Any]] = [
        TableColumn("NAME", lambda each: each.name, flexible=True),
        TableColumn("STEPS", describe_steps, flexible=True),
        TableColumn("VERSION", lambda each: each.version, right=True),
    ]
    api_options.print_rows(found.rows, columns, ids="name", empty="No routes")
    print_more_hint(found, api_options)
    return 0


def describe_steps(route: Any) -> str:
    """Describe the steps of a route: which channels, and after which time."""
    parts = []
    for step in route.steps:
        after = f" after {step['after']}" if "after" in step else ""
        parts.append(f"{', '.join(step['to'])}{after}")
    return "; ".join(parts)


@routes_app.command(name="show")
def show_route(name: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Show a route as JSON, as `rota alerts routes set` accepts it.

    Parameters
    ----------
    name
        Route name.
    """
    with api_options.open_client() as client:
        found = client.get_route(name)
    if api_options.is_plain:
        print_json(found.steps)
    else:
        api_options.print_record(found, [], ids="name")
    return 0


@routes_app.command(name="set")
def set_route(
    name: str,
    /,
    *,
    to: Annotated[list[str] | None, REPEATABLE] = None,
    file: str | None = None,
    if_version: int | None = None,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Create or replace a route.

    Parameters
    ----------
    name
        Route name.
    to
        Channel that gets every message at once (repeatable). For more steps, use --file.
    file
        File with the steps, a list in JSON or YAML; - reads JSON from standard input.
    if_version
        Fail if the current version is different. Default: any version.
    """
    if (to is None) == (file is None):
        wanted = "give either --to, or --file with the steps"
        raise InvalidInput("--to" if file is None else "--file", to or file, wanted)
    steps = [{"to": to}] if file is None else read_document(file, field="--file")
    if not isinstance(steps, list):
        raise InvalidInput("--file", file, "expected a list of steps, such as [{to: [chat]}]")
    with api_options.open_client() as client:
        done = client.put_route(name, steps=steps, **drop_empty(if_match=if_version))
    sentence = f"Saved route {done.name}, version {done.version}"
    api_options.print_result(done, sentence, id_=done.name)
    return 0


@routes_app.command(name="delete")
def delete_route(
    name: str,
    /,
    *,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Delete a route. Fails if a job or a rule reports to it.

    Parameters
    ----------
    name
        Route name.
    yes
        Skip the confirmation.
    """
    with api_options.open_client() as client:
        if not confirm(f"Delete route {name}?", yes=yes):
            return 1
        client.delete_route(name)
    api_options.print_result({"name": name}, f"Deleted route {name}", id_=name)
    return 0


def rehearse(
    file: Path | None = None,
    /,
    *,
    since: str = "30d",
    rules_only: Annotated[bool, SWITCH] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Replay rules over the history of runs, and count the incidents and messages of each.

    Stores and sends nothing. Acknowledgements, silences and storm limits are not replayed, so the
    number of messages is an upper bound.

    Parameters
    ----------
    file
        Manifest file whose alerts and routes are replayed. Default: the stored rules.
    since
        How far to go back, at most 90 days.
    rules_only
        Leave out the expectations of single jobs.
    """
    given: dict[str, Any] = {"since": since, "include_jobs": not rules_only}
    if file is not None:
        declared = load_manifest(file)
        given["rules"] = [dict(rule.body) for rule in declared.alerts]
        given["routes"] = {route.name: route.body["steps"] for route in declared.routes}
    with api_options.open_client() as client:
        found = client.rehearse_expectations(**given)
    if api_options.as_json:
        print_json(found)
        return 0
    shown = sorted(found.rules, key=lambda each: (-each.messages, each.name))
    columns: list[TableColumn[Any]] = [
        TableColumn("RULE", lambda each: each.name, flexible=True),
        TableColumn("INCIDENTS", lambda each: "-" if each.skipped else each.incidents, right=True),
        TableColumn("MESSAGES", lambda each: "-" if each.skipped else each.messages, right=True),
        TableColumn("SUBJECTS", lambda each: "-" if each.skipped else each.subjects, right=True),
        TableColumn("LAST", lambda each: each.skipped or each.example, flexible=True),
    ]
    api_options.print_rows(shown, columns, ids="name", empty="No rules")
    if api_options.is_plain:
        print(f"{found.incidents} incidents and {found.messages} messages in {found.runs:,} runs")
    if not found.is_complete:
        print_warnings([f"only runs since {found.since} were read; choose a shorter --since"])
    return 0
