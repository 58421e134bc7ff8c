"""Runs one attempt to send a notification.

Sends to one channel after the other and stores a checkpoint after each success, so that the next
attempt sends to the remaining channels only. A worker that dies before the checkpoint sends again:
a message may arrive twice and is never lost.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rota.contract.payloads.notify import NotifyPayload
from rota.contract.schemas import render_schema
from rota.core.errors import InvalidInput, InvalidSetting
from rota.core.executor import AttemptContext, Stream
from rota.core.kind_descriptions import TaskDescription
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
    """Sends notifications. Payloads name some of `channels`; if it is empty, the kind is off."""

    only_calls = True

    def __init__(self, channels: Mapping[str, Channel]) -> None:
        self._channels = dict(channels)
        if self._channels:
            refuse_without_apprise()
        for name, channel in self._channels.items():
            if channel.allow_to and not channel.is_mail:
                wanted = f"must be false: only {' and '.join(MAIL)} channels accept recipients"
                raise InvalidSetting(f"executors.channels.{name}.allow_to", True, wanted)

    @property
    def kinds(self) -> Sequence[str]:
        return (KIND,) if self._channels else ()

    def payload_schema(self, kind: str) -> Mapping[str, Any]:  # noqa: ARG002 — it has one kind
        return render_schema(NotifyPayload)

    def describe_task(self, kind: str) -> TaskDescription:  # noqa: ARG002 — it has one kind
        return TaskDescription(text="Sends a message to channels such as e-mail or chat.")

    def read(self, kind: str, payload: Any) -> Message:
        return self.read_for(DEFAULT_TENANT, kind, payload)

    def read_for(self, tenant: str, kind: str, payload: Any) -> Message:
        if kind != KIND:
            raise InvalidInput("kind", kind, f"expected {KIND}")
        channels = select_open(self._channels, tenant)
        allow_to = {name: channel.allow_to for name, channel in channels.items()}
        return read_message(payload, allow_to, tenant)

    def target_of(self, spec: Message) -> str | None:
        """Return the channel if there is only one; of several, some may have worked."""
        return f"channel:{spec.channels[0]}" if len(spec.channels) == 1 else None

    async def run(self, spec: Message, context: AttemptContext) -> Outcome:
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


async def sent_before(context: AttemptContext) -> list[str]:
    """Return the channels that earlier attempts of this run have sent to."""
    stored = await context.resume()
    return list(stored["sent"]) if isinstance(stored, Mapping) and "sent" in stored else []


def note(name: str, verdict: Verdict) -> str:
    return f"{name}: sent\n" if verdict.is_sent else f"{name}: {verdict.message}\n"


def settle(spec: Message, failed: Mapping[str, Verdict]) -> Outcome:
    if not failed:
        return Succeeded(result={"sent": list(spec.channels)})
    # A retryable failure comes first: it is the reason for the retry.
    first = min(failed.values(), key=lambda verdict: verdict.final)
    message = "; ".join(f"{name}: {verdict.message}" for name, verdict in failed.items())
    return Failed(
        failure=Failure(type=first.type, message=message),
        final=all(verdict.final for verdict in failed.values()),
        reached=False if first.is_away else None,
    )
