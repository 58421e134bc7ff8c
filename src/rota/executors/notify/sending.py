"""One message to one channel, through apprise. Room: executors/notify.

Apprise is an extra, and large: only a worker with channels imports it, in a thread, when it opens.
It blocks, so it is called in a thread, too, and what that has begun cannot be taken back: when an
attempt is stopped or takes too long, the thread is left behind. Being a daemon it keeps nothing
from ending, and its sockets have time limits of their own.
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
from rota.executors.notify.spec import Letter
from rota.executors.notify.verdict import SENT, Verdict, eavesdrop, judge, missed, refused

MAIL = ("mailto", "mailtos")
IDEMPOTENCY = "Idempotency-Key"

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """Where messages go. `url` is apprise's, with its secrets; it is never shown."""

    url: str = field(repr=False)
    allow_to: bool = False
    timeout: timedelta = timedelta(seconds=30)
    tenants: tuple[str, ...] = DEFAULT_TENANTS

    @property
    def is_mail(self) -> bool:
        return self.url.partition("://")[0].lower() in MAIL


def refuse_without_apprise() -> None:
    if find_spec("apprise") is None:
        raise InvalidSetting("executors.channels", "***", "install rota[notify] for this worker")


async def send(channel: Channel, letter: Letter) -> Verdict:
    try:
        async with asyncio.timeout(channel.timeout.total_seconds()):
            return await in_thread(lambda: deliver(channel, letter))
    except TimeoutError:
        return missed("timeout", "no answer in time")


def load() -> None:
    """Import apprise and its plug-ins, which takes a second; called in a thread."""
    import apprise  # noqa: PLC0415 - see the module

    with eavesdrop(apprise.logger.name).listening():
        apprise.Apprise.instantiate("json://localhost", asset=asset_of(apprise))


def deliver(channel: Channel, letter: Letter) -> Verdict:
    """Called in a thread."""
    import apprise  # noqa: PLC0415 - see the module

    with eavesdrop(apprise.logger.name).listening() as heard:
        asset = asset_of(apprise)
        service = service_of(apprise, asset, channel, letter)
        if service is None:
            return refused("bad channel", "apprise cannot use the URL of this channel")
        title = letter.title
        if letter.format == "html" and service.title_maxlen <= 0:
            # Such a service has no title of its own: it becomes the beginning of the body.
            title = html.escape(title)
        sender = apprise.Apprise(asset=asset)
        sender.add(service)
        result = sender.notify(
            body=letter.body,
            title=title,
            body_format=letter.format,
            notify_type=letter.level,
        )
        return SENT if result else judge(heard)


def asset_of(apprise: Any) -> Any:
    """Nothing is written to disk or made up, no secret is logged, and time is limited by us."""
    return apprise.AppriseAsset(
        app_id="Rota",
        app_desc="Rota",
        app_url="",
        secure_logging=True,
        storage_mode=apprise.PersistentStoreMode.MEMORY,
        # A POST that is redirected would arrive as a GET, without its message.
        http_redirects=False,
        pgp_autogen=False,
        pem_autogen=False,
        service_timeout=0,
    )


def service_of(apprise: Any, asset: Any, channel: Channel, letter: Letter) -> Any:
    """The service that the URL names, for the recipients of the letter; None if there is none."""
    service = apprise.Apprise.instantiate(channel.url, asset=asset)
    if service is None:
        return None
    if letter.to:
        service.targets = [(False, address) for address in letter.to]
    seconds = channel.timeout.total_seconds()
    service.socket_connect_timeout = service.socket_read_timeout = seconds
    if isinstance(getattr(service, "headers", None), dict):
        service.headers = {**service.headers, IDEMPOTENCY: letter.key}
    return service


async def in_thread(call: Callable[[], Answer]) -> Answer:
    """The answer of a call that blocks. When cancelled, it is left to itself."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[Answer] = loop.create_future()
    context = contextvars.copy_context()

    def tell(answer: Answer | None, error: BaseException | None) -> None:
        if answered.cancelled():
            return
        if error is not None:
            answered.set_exception(error)
        else:
            answered.set_result(answer)  # type: ignore[arg-type]

    def carry_out() -> None:
        answer, error = None, None
        try:
            answer = context.run(call)
        except BaseException as raised:  # noqa: BLE001 - it belongs to whoever waits
            error = raised
        try:
            loop.call_soon_threadsafe(tell, answer, error)
        except RuntimeError:  # the loop is closed: nobody waits any more
            return

    threading.Thread(target=carry_out, name="rota-notify", daemon=True).start()
    return await answered
