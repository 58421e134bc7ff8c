"""`rota webhooks`: manages subscriptions that send events to URLs as signed requests."""

from dataclasses import dataclass
from threading import Event
from typing import Annotated, Any, Final, Literal

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
from rota.cli.argument_values import parse_labels, parse_settings
from rota.cli.errors import UsageError
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, drop_empty, list_rows, print_more_hint
from rota.cli.prompts import confirm, read_secret
from rota.cli.tables import TableColumn
from rota.core.errors import NotFound

app = App(name="webhooks", help="Webhook subscriptions: create, list, show, edit, test, log.")

Severity = Literal["info", "warning", "page"]
DeliveryStateFilter = Literal["pending", "held", "delivered", "failed", "dropped"]
HeldChoice = Literal["replay", "newest", "drop"]
# How often `rota webhooks test` looks for the result of the first attempt, and how many times.
TEST_LOOK_INTERVAL_S: Final = 0.5
TEST_LOOKS_MAX: Final = 40
# What `rota webhooks create` subscribes to without --on.
FAILURE_EVENTS: Final = ("run.failed", "run.lost", "run.missed")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class EventSelection:
    """Which events are sent.

    Parameters
    ----------
    on
        Event type such as run.failed, or a pattern such as 'run.*' (repeatable). Default: failures.
    job
        Name of the job, or a pattern such as 'nightly *'. Default: any.
    task
        Task, or a pattern. Default: any.
    queue
        Queue, or a pattern. Default: any.
    label
        Label that the job must have, such as team=billing (repeatable). Default: none.
    severity
        Lowest severity of incident events. Default: any.
    """

    on: Annotated[list[str] | None, Parameter(negative=())] = None
    job: str | None = None
    task: str | None = None
    queue: str | None = None
    label: Annotated[list[str] | None, Parameter(negative=())] = None
    severity: Severity | None = None

    def build_filter(self) -> dict[str, Any] | None:
        found = drop_empty(
            job=self.job,
            task=self.task,
            queue=self.queue,
            labels=parse_labels(self.label),
            severity=self.severity,
        )
        return found or None


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOptions:
    """How events are sent.

    Parameters
    ----------
    include
        Field to send in addition, masked (repeatable). Requires the role admin. Default: none.
    format_
        Form of the body. Default: standard.
    allow_http
        Allow a URL without TLS.
    own_secret
        Use a secret of your own, read from standard input or a prompt. Default: a new secret.
    """

    include: Annotated[list[Literal["payload", "result"]] | None, Parameter(negative=())] = None
    format_: Annotated[Literal["standard", "cloudevents"], Parameter("--format")] = "standard"
    allow_http: Annotated[bool, Parameter(negative=())] = False
    own_secret: Annotated[bool, Parameter(negative=())] = False


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverySelection:
    """Which deliveries are sent again.

    Parameters
    ----------
    state
        State of the deliveries (repeatable). Default: failed.
    on
        Event type or pattern (repeatable). Default: all.
    since
        Events at or after this time: a timestamp, or how long ago, such as 2h. Default: any.
    until
        Events before this time: a timestamp, or how long ago. Default: any.
    per_minute
        Deliveries per minute. Default: 600.
    """

    state: Annotated[
        list[Literal["failed", "dropped", "delivered"]] | None, Parameter(negative=())
    ] = None
    on: Annotated[list[str] | None, Parameter(negative=())] = None
    since: str | None = None
    until: str | None = None
    per_minute: int = 600

    def build_fields(self) -> dict[str, Any]:
        return drop_empty(
            states=self.state,
            events=self.on,
            since=times.parse_time(self.since, field="--since"),
            until=times.parse_time(self.until, field="--until"),
            per_minute=self.per_minute,
        )


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookChanges:
    """What is changed.

    Parameters
    ----------
    url
        Where events are sent, including those that wait. Default: unchanged.
    name
        Unique name. Default: unchanged.
    on
        Event type or pattern (repeatable); replaces all of them. Default: unchanged.
    match
        What an event must match, such as job=nightly*, queue=slow, labels.team=billing or
        severity=page (repeatable); replaces the whole filter. Default: unchanged.
    no_match
        Remove the filter.
    include
        Field to send in addition, masked (repeatable); replaces all of them. Requires the role
        admin. Default: unchanged.
    no_include
        Send no additional fields.
    format_
        Form of the body. Default: unchanged.
    allow_http
        Whether a URL without TLS is allowed. Default: unchanged.
    """

    url: str | None = None
    name: str | None = None
    on: Annotated[list[str] | None, REPEATABLE] = None
    match: Annotated[list[str] | None, REPEATABLE] = None
    no_match: Annotated[bool, SWITCH] = False
    include: Annotated[list[Literal["payload", "result"]] | None, REPEATABLE] = None
    no_include: Annotated[bool, SWITCH] = False
    format_: Annotated[Literal["standard", "cloudevents"] | None, Parameter("--format")] = None
    allow_http: Annotated[bool | None, Parameter(negative="--no-allow-http")] = None

    def build_fields(self) -> dict[str, Any]:
        fields = drop_empty(
            url=self.url,
            name=self.name,
            events=self.on,
            filter=parse_settings(self.match or [], field="--match"),
            include=self.include,
            format=self.format_,
            allow_http=self.allow_http,
        )
        removed: dict[str, Any] = {"filter": None} if self.no_match else {}
        removed |= {"include": []} if self.no_include else {}
        for name in removed.keys() & fields.keys():
            option = "match" if name == "filter" else name
            raise UsageError(f"--no-{option} removes what --{option} sets; give one of them")
        if not fields and not removed:
            raise UsageError("nothing to change: give at least one option, such as --on")
        return fields | removed


ALL_EVENTS: Final = EventSelection()
NO_CHANGES: Final = WebhookChanges()
STANDARD_REQUESTS: Final = RequestOptions()
FAILED_DELIVERIES: Final = DeliverySelection()


@app.command(name="list")
def list_webhooks(
    *, row_limit: ListLimit = DEFAULT_LIMIT, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """List webhook subscriptions, without their secrets."""
    with api_options.open_client() as client:
        found = list_rows(client.list_webhooks, row_limit=row_limit)
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("NAME", lambda webhook: webhook.name, flexible=True),
        TableColumn("STATE", describe_state),
        TableColumn("EVENTS", lambda webhook: " ".join(webhook.events), flexible=True),
        TableColumn("WAITING", lambda webhook: webhook.pending + webhook.held, right=True),
        TableColumn(
            "LAST SUCCESS", lambda webhook: times.format_relative(webhook.last_success_at, now)
        ),
        TableColumn("URL", lambda webhook: webhook.url, flexible=True),
    ]
    api_options.print_rows(found.rows, columns, ids="webhook_id", empty="No webhooks")
    print_more_hint(found, api_options)
    return 0


def describe_state(webhook: Any) -> str:
    if webhook.state == "disabled":
        return f"disabled ({webhook.disabled_reason})"
    return "failing" if webhook.failures else "ok"


@app.command
def create(
    url: str,
    /,
    *,
    name: str | None = None,
    events: EventSelection = ALL_EVENTS,
    requests: RequestOptions = STANDARD_REQUESTS,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Send events to a URL, and print the signing secret, which is shown only once.

    With --quiet only the secret is printed. Without --on, failures are sent: run.failed, run.lost
    and run.missed.

    Parameters
    ----------
    url
        Where events are sent; a public https URL.
    name
        Unique name. Default: the host of the URL.
    """
    own = read_secret("signing secret: ") if requests.own_secret else None
    optional = drop_empty(
        name=name, filter=events.build_filter(), include=requests.include, secret=own
    )
    with api_options.open_client() as client:
        made = client.create_webhook(
            url=url,
            events=events.on or list(FAILURE_EVENTS),
            format=requests.format_,
            allow_http=requests.allow_http,
            **optional,
        )
    print_secret(made, api_options)
    return 0


def print_secret(webhook: Any, api_options: ApiOptions) -> None:
    api_options.print_result(webhook, webhook.secret, id_=webhook.secret)
    if api_options.is_plain:
        stored = f"Webhook {webhook.name}: store the secret safely, it is not shown again"
        print_warnings([*webhook.warnings, stored])


@app.command
def show(webhook: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Show a webhook subscription and its health.

    Parameters
    ----------
    webhook
        Webhook name or id.
    """
    with api_options.open_client() as client:
        found = client.get_webhook(resolve_webhook_id(client, webhook))
    now = times.now()
    conditions = found.filter
    facts = [
        ("webhook", found.webhook_id),
        ("name", found.name),
        ("url", found.url),
        ("events", " ".join(found.events)),
        ("job", conditions.job),
        ("task", conditions.task),
        ("queue", conditions.queue),
        ("labels", " ".join(f"{k}={v}" for k, v in conditions.labels.items()) or None),
        ("severity", conditions.severity),
        ("include", " ".join(found.include) or None),
        ("format", found.format),
        ("state", describe_state(found)),
        ("waiting", found.pending or None),
        ("held", found.held or None),
        ("last success", times.format_time(found.last_success_at, now)),
        ("failing since", times.format_time(found.failing_since, now)),
        ("failures", found.failures or None),
        ("last error", found.last_error),
        ("former secret", times.format_time(found.former_secret_until, now)),
        ("created", f"{times.format_time(found.created_at, now)} by {found.created_by}"),
    ]
    api_options.print_record(
        found, [fact for fact in facts if fact[1] is not None], ids="webhook_id"
    )
    return 0


@app.command
def edit(
    webhook: str,
    /,
    *,
    changes: WebhookChanges = NO_CHANGES,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Change a webhook subscription. Its secret and its waiting deliveries stay.

    Parameters
    ----------
    webhook
        Webhook name or id.
    """
    fields = changes.build_fields()
    with api_options.open_client() as client:
        done = client.change_webhook(resolve_webhook_id(client, webhook), **fields)
    sentence = f"Changed webhook {done.name}, version {done.version}"
    api_options.print_result(done, sentence, id_=done.webhook_id)
    print_warnings(done.warnings)
    return 0


@app.command(name="test")
def send_test(webhook: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Send a test event, and wait for the first attempt. Exit code 1 if it fails.

    Parameters
    ----------
    webhook
        Webhook name or id.
    """
    with api_options.open_client() as client:
        id_ = resolve_webhook_id(client, webhook)
        delivery = client.test_webhook(id_)
        rest = Event()
        for _ in range(TEST_LOOKS_MAX):
            delivery = client.get_webhook_delivery(id_, delivery.delivery_id)
            if delivery.history:
                break
            rest.wait(TEST_LOOK_INTERVAL_S)
    sentence = f"{webhook}: not sent yet; is a scheduler running?"
    if delivery.state == "delivered":
        sentence = f"{webhook}: delivered, answered {delivery.status}"
    elif delivery.error is not None:
        sentence = f"{webhook}: failed: {delivery.error}"
    api_options.print_result(delivery, sentence, id_=delivery.delivery_id)
    return 0 if delivery.state == "delivered" else 1


@app.command
def disable(webhook: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Disable a webhook. Its events are held for 14 days.

    Parameters
    ----------
    webhook
        Webhook name or id.
    """
    with api_options.open_client() as client:
        found = client.disable_webhook(resolve_webhook_id(client, webhook))
    sentence = f"Disabled {found.name}; its events are held for 14 days"
    api_options.print_result(found, sentence, id_=found.webhook_id)
    return 0


@app.command
def enable(
    webhook: str,
    /,
    *,
    held: HeldChoice | None = None,
    per_minute: int = 600,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Enable a webhook, and decide what happens to its held deliveries.

    Parameters
    ----------
    webhook
        Webhook name or id.
    held
        Send all held deliveries (replay), only the newest, or drop them. Required if there are any.
        Default: none.
    per_minute
        Pace of replay, in deliveries per minute. Default: 600.
    yes
        Skip the confirmation.
    """
    choice = drop_empty(held=held, per_minute=per_minute)
    with api_options.open_client() as client:
        id_ = resolve_webhook_id(client, webhook)
        counted = client.enable_webhook(id_, dry_run=True, **choice)
        if counted.matched and held is not None:
            question = f"{counted.matched} deliveries are held. Enable {webhook} and {held}?"
            if not confirm(question, yes=yes):
                return 1
        done = client.enable_webhook(id_, token=counted.token, **choice)
    sentence = f"Enabled {webhook}"
    if done.done:
        verb = "scheduled" if held == "replay" else "dropped"
        sentence = f"{sentence}; {verb} {done.done} held deliveries"
    api_options.print_result(done, sentence, id_=id_)
    return 0


@app.command
def rotate(
    webhook: str,
    /,
    *,
    former_for: str | None = None,
    own_secret: Annotated[bool, Parameter(negative=())] = False,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Replace the secret of a webhook and print the new one, which is shown only once.

    Parameters
    ----------
    webhook
        Webhook name or id.
    former_for
        How long the previous secret signs as well, such as 1h. Default: 24h.
    own_secret
        Use a secret of your own, read from standard input or a prompt. Default: a new secret.
    yes
        Skip the confirmation.
    """
    own = read_secret("signing secret: ") if own_secret else None
    with api_options.open_client() as client:
        id_ = resolve_webhook_id(client, webhook)
        if not confirm(f"Rotate the secret of webhook {webhook}?", yes=yes):
            return 1
        made = client.rotate_webhook(id_, **drop_empty(secret=own, former_for=former_for))
    print_secret(made, api_options)
    return 0


@app.command
def log(
    webhook: str,
    delivery: str | None = None,
    /,
    *,
    state: DeliveryStateFilter | None = None,
    type_: Annotated[str | None, Parameter("--type")] = None,
    row_limit: ListLimit = DEFAULT_LIMIT,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """List the deliveries of a webhook, newest first, or show one with its request as JSON.

    Parameters
    ----------
    webhook
        Webhook name or id.
    delivery
        Delivery id. Default: list all.
    state
        Filter by state. Default: all.
    type_
        Filter by event type. Default: all.
    """
    with api_options.open_client() as client:
        id_ = resolve_webhook_id(client, webhook)
        if delivery is not None:
            print_json(client.get_webhook_delivery(id_, delivery))
            return 0
        found = list_rows(
            client.list_webhook_deliveries, id_, row_limit=row_limit, state=state, type=type_
        )
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("DELIVERY", lambda row: row.delivery_id),
        TableColumn("TYPE", lambda row: row.type),
        TableColumn("STATE", lambda row: row.state),
        TableColumn("ATTEMPTS", lambda row: row.attempts, right=True),
        TableColumn("STATUS", lambda row: row.status, right=True),
        TableColumn("CREATED", lambda row: times.format_relative(row.created_at, now)),
        TableColumn("NEXT", lambda row: times.format_relative(row.next_attempt_at, now)),
        TableColumn("ERROR", lambda row: row.error, flexible=True),
    ]
    api_options.print_rows(found.rows, columns, ids="delivery_id", empty="No deliveries")
    print_more_hint(found, api_options)
    return 0


@app.command
def replay(
    webhook: str,
    delivery: str | None = None,
    /,
    *,
    deliveries: DeliverySelection = FAILED_DELIVERIES,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Send deliveries again, with the same webhook-id: one, or all that match.

    Parameters
    ----------
    webhook
        Webhook name or id.
    delivery
        Delivery id. Default: all that match the options.
    yes
        Skip the confirmation.
    """
    which = deliveries.build_fields()
    with api_options.open_client() as client:
        id_ = resolve_webhook_id(client, webhook)
        if delivery is not None:
            sent = client.redeliver_webhook(id_, delivery)
            api_options.print_result(sent, f"Scheduled {delivery}", id_=delivery)
            return 0
        counted = client.replay_webhook(id_, dry_run=True, **which)
        if not counted.matched:
            api_options.print_result(counted, "No deliveries match", id_="")
            return 0
        if not confirm(f"Send {counted.matched} deliveries to {webhook} again?", yes=yes):
            return 1
        done = client.replay_webhook(id_, token=counted.token, **which)
    api_options.print_result(done, f"Scheduled {done.done} deliveries", id_=id_)
    return 0


@app.command
def delete(
    webhook: str,
    /,
    *,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Delete a webhook. Deliveries that wait are not sent.

    Parameters
    ----------
    webhook
        Webhook name or id.
    yes
        Skip the confirmation.
    """
    with api_options.open_client() as client:
        id_ = resolve_webhook_id(client, webhook)
        if not confirm(f"Delete webhook {webhook}?", yes=yes):
            return 1
        client.delete_webhook(id_)
    api_options.print_result({"webhook_id": id_}, f"Deleted webhook {webhook}", id_=id_)
    return 0


def resolve_webhook_id(client: Any, text: str) -> str:
    """Return the id of a webhook, given its id or name."""
    found = list_rows(client.list_webhooks, row_limit=ListLimit(all_=True)).rows
    for each in found:
        if text in {each.webhook_id, each.name}:
            return str(each.webhook_id)
    raise NotFound("webhook", text)
