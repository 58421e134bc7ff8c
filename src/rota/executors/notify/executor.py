"""One attempt to tell people something. Room: executors/notify.

The channels get the message one after the other, and after each that did it is stored which: the
next attempt sends to the others only. A worker that dies between the two sends once more, so a
message may come twice and is never lost.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rota.contract.payloads.notify import NotifyPayload
from rota.contract.schemas import render_schema
from rota.core.describing import TaskDescription
from rota.core.errors import InvalidInput, InvalidSetting
from rota.core.executor import Context, Stream
from rota.core.outcome import Failed, Failure, Outcome, Succeeded
from rota.core.tenancy import DEFAULT_TENANT, select_open
from rota.executors.notify.sending import (
    MAIL,
    Channel,
    in_thread,
    load,
    refuse_without_apprise,
    send,
)
from rota.executors.notify.spec import Message, read_message
from rota.executors.notify.verdict import Verdict

KIND = "notify"


class NotifyExecutor:
    """`channels` are known to payloads by their names; without any, the kind is off."""

    only_calls = True

    def __init__(self, channels: Mapping[str, Channel]) -> None:
        self._channels = dict(channels)
        if self._channels:
            refuse_without_apprise()
        for name, channel in self._channels.items():
            if channel.allow_to and not channel.is_mail:
                wanted = f"false: only {' and '.join(MAIL)} have recipients that a payload can name"
                raise InvalidSetting(f"executors.channels.{name}.allow_to", True, wanted)

    @property
    def kinds(self) -> Sequence[str]:
        return (KIND,) if self._channels else ()

    def payload_schema(self, kind: str) -> Mapping[str, Any]:  # noqa: ARG002 — it has one
        return render_schema(NotifyPayload)

    def describe_task(self, kind: str) -> TaskDescription:  # noqa: ARG002 — it has one
        return TaskDescription(text="Sends a message to channels such as e-mail or chat.")

    def read(self, kind: str, payload: Any) -> Message:
        return self.read_for(DEFAULT_TENANT, kind, payload)

    def read_for(self, tenant: str, kind: str, payload: Any) -> Message:
        if kind != KIND:
            raise InvalidInput("kind", kind, KIND)
        channels = select_open(self._channels, tenant)
        allow_to = {name: channel.allow_to for name, channel in channels.items()}
        return read_message(payload, allow_to, tenant)

    def target_of(self, spec: Message) -> str | None:
        """The channel, if it is one alone: of several, some may have got their message."""
        return f"channel:{spec.channels[0]}" if len(spec.channels) == 1 else None

    async def run(self, spec: Message, context: Context) -> Outcome:
        letter = spec.letter(context)
        sent = await sent_before(context)
        failed: dict[str, Verdict] = {}
        for name in spec.channels:
            if name in sent:
                continue
            verdict = await send(self._channels[name], letter)
            context.write(Stream.ROTA, note(name, verdict).encode())
            if verdict.is_sent:
                sent.append(name)
                await context.checkpoint({"sent": sent})
            else:
                failed[name] = verdict
            context.progress((len(sent) + len(failed)) / len(spec.channels), name)
        return settle(spec, failed)

    async def open(self) -> None:
        if self._channels:
            await in_thread(load)

    async def close(self) -> None:
        pass


async def sent_before(context: Context) -> list[str]:
    """The channels that an earlier attempt of this run has sent to."""
    stored = await context.resume()
    return list(stored["sent"]) if isinstance(stored, Mapping) and "sent" in stored else []


def note(name: str, verdict: Verdict) -> str:
    return f"{name}: sent\n" if verdict.is_sent else f"{name}: {verdict.message}\n"


def settle(spec: Message, failed: Mapping[str, Verdict]) -> Outcome:
    if not failed:
        return Succeeded(result={"sent": list(spec.channels)})
    # The first that may still succeed names the failure, since it is the reason to try again.
    first = min(failed.values(), key=lambda verdict: verdict.final)
    message = "; ".join(f"{name}: {verdict.message}" for name, verdict in failed.items())
    return Failed(
        failure=Failure(type=first.type, message=message),
        final=all(verdict.final for verdict in failed.values()),
        reached=False if first.is_away else None,
    )
