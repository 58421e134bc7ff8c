"""Sends one message to one channel, through apprise.

Apprise is a large optional dependency: only a process with channels imports it, in a thread, when
the executor opens or an alert is sent. Its calls block and cannot be interrupted, so each runs in a
daemon thread. If an attempt is stopped or times out, the thread is abandoned; it does not keep the
process alive, and its sockets have timeouts of their own.
"""

import asyncio
import contextvars
import html
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from importlib.util import find_spec
from typing import Any, TypeVar

from rota.core.errors import InvalidSetting
from rota.core.tenancy import DEFAULT_TENANTS
from rota.executors.notify.send_result import (
    SENT,
    SendResult,
    build_final_failure,
    build_retryable_failure,
    capture_logger,
    classify_records,
)
from rota.executors.notify.spec import RenderedMessage

MAIL_SCHEMES = ("mailto", "mailtos")
IDEMPOTENCY_HEADER = "Idempotency-Key"

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyChannel:
    """Where messages go. `url` is an apprise URL with its secrets and is never shown."""

    url: str = field(repr=False)
    allow_to: bool = False
    timeout: timedelta = timedelta(seconds=30)
    tenants: tuple[str, ...] = DEFAULT_TENANTS

    @property
    def is_mail(self) -> bool:
        return self.url.partition("://")[0].lower() in MAIL_SCHEMES


def refuse_without_apprise() -> None:
    if find_spec("apprise") is None:
        wanted = "apprise is missing; install rota[notify] for this process"
        raise InvalidSetting("channels", "***", wanted)


async def send_letter(channel: NotifyChannel, letter: RenderedMessage) -> SendResult:
    try:
        async with asyncio.timeout(channel.timeout.total_seconds()):
            return await run_in_thread(lambda: deliver_letter(channel, letter))
    except TimeoutError:
        return build_retryable_failure("timeout", "no response in time")


def load_apprise() -> None:
    """Import apprise and its plug-ins, which takes a second. Called in a thread."""
    import apprise  # noqa: PLC0415 - see the module

    with capture_logger(apprise.logger.name).capture():
        apprise.Apprise.instantiate("json://localhost", asset=build_asset(apprise))


def deliver_letter(channel: NotifyChannel, letter: RenderedMessage) -> SendResult:
    """Send the letter and classify the result. Called in a thread."""
    import apprise  # noqa: PLC0415 - see the module

    with capture_logger(apprise.logger.name).capture() as heard:
        asset = build_asset(apprise)
        service = build_service(apprise, asset, channel, letter)
        if service is None:
            return build_final_failure(
                "bad channel", "apprise does not support the URL of this channel"
            )
        title = letter.title
        if letter.format == "html" and service.title_maxlen <= 0:
            # The service has no titles: apprise puts the title before the body.
            title = html.escape(title)
        sender = apprise.Apprise(asset=asset)
        sender.add(service)
        result = sender.notify(
            body=letter.body,
            title=title,
            body_format=letter.format,
            notify_type=letter.level,
        )
        return SENT if result else classify_records(heard)


def build_asset(apprise: Any) -> Any:
    """Configure apprise: no files, no generated keys, no secrets in logs, no own timeouts."""
    return apprise.AppriseAsset(
        app_id="Rota",
        app_desc="Rota",
        app_url="",
        secure_logging=True,
        storage_mode=apprise.PersistentStoreMode.MEMORY,
        # A redirected POST would arrive as a GET without its message.
        http_redirects=False,
        pgp_autogen=False,
        pem_autogen=False,
        service_timeout=0,
    )


def build_service(apprise: Any, asset: Any, channel: NotifyChannel, letter: RenderedMessage) -> Any:
    """Return the service of the URL, set to the letter's recipients; None if it is unsupported."""
    service = open_service(apprise, asset, channel.url, timeout=channel.timeout, key=letter.key)
    if service is not None and letter.to:
        service.targets = [(False, address) for address in letter.to]
    return service


def open_service(apprise: Any, asset: Any, url: str, *, timeout: timedelta, key: str) -> Any:
    """Return the service of a URL with its timeouts and idempotency key; None if unsupported."""
    service = apprise.Apprise.instantiate(url, asset=asset)
    if service is None:
        return None
    seconds = timeout.total_seconds()
    service.socket_connect_timeout = service.socket_read_timeout = seconds
    if isinstance(getattr(service, "headers", None), dict):
        service.headers = {**service.headers, IDEMPOTENCY_HEADER: key}
    return service


async def run_in_thread(call: Callable[[], Answer]) -> Answer:
    """Run a blocking call in a daemon thread. On cancellation the thread is abandoned."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Answer] = loop.create_future()
    context = contextvars.copy_context()

    def resolve(answer: Answer | None, error: BaseException | None) -> None:
        if future.cancelled():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(answer)  # type: ignore[arg-type]

    def run_call() -> None:
        answer, error = None, None
        try:
            answer = context.run(call)
        except BaseException as raised:  # noqa: BLE001 - the awaiting caller gets it
            error = raised
        try:
            loop.call_soon_threadsafe(resolve, answer, error)
        except RuntimeError:  # the loop is closed: the caller no longer waits
            return

    threading.Thread(target=run_call, name="rota-notify", daemon=True).start()
    return await future
