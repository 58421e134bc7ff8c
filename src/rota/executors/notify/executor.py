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
from rota.executors.notify.send_result import SendResult
from rota.executors.notify.sender import (
    MAIL_SCHEMES,
    NotifyChannel,
    load_apprise,
    refuse_without_apprise,
    run_in_thread,
    send_letter,
)
from rota.executors.notify.spec import NotifyMessage, read_message

KIND = "notify"


class NotifyExecutor:
    """Sends notifications. Payloads name some of `channels`; if it is empty, the kind is off."""

    only_calls = True

    def __init__(self, channels: Mapping[str, NotifyChannel]) -> None:
        self._channels = dict(channels)
        if self._channels:
            refuse_without_apprise()
        for name, channel in self._channels.items():
            if channel.allow_to and not channel.is_mail:
                wanted = (
                    f"must be false: only {' and '.join(MAIL_SCHEMES)} channels accept recipients"
                )
                raise InvalidSetting(f"channels.{name}.allow_to", True, wanted)

    @property
    def kinds(self) -> Sequence[str]:
        return (KIND,) if self._channels else ()

    def payload_schema(self, kind: str) -> Mapping[str, Any]:  # noqa: ARG002 — it has one kind
        return render_schema(NotifyPayload)

    def describe_task(self, kind: str) -> TaskDescription:  # noqa: ARG002 — it has one kind
        return TaskDescription(text="Sends a message to channels such as e-mail or chat.")

    def read(self, kind: str, payload: Any) -> NotifyMessage:
        return self.read_for(DEFAULT_TENANT, kind, payload)

    def read_for(self, tenant: str, kind: str, payload: Any) -> NotifyMessage:
        if kind != KIND:
            raise InvalidInput("kind", kind, f"expected {KIND}")
        channels = select_open(self._channels, tenant)
        allow_to = {name: channel.allow_to for name, channel in channels.items()}
        return read_message(payload, allow_to, tenant)

    def target_of(self, spec: NotifyMessage) -> str | None:
        """Return the channel if there is only one; of several, some may have worked."""
        return f"channel:{spec.channels[0]}" if len(spec.channels) == 1 else None

    async def run(self, spec: NotifyMessage, context: AttemptContext) -> Outcome:
        letter = spec.render(context)
        sent = await read_sent_channels(context)
        failed: dict[str, SendResult] = {}
        for name in spec.channels:
            if name in sent:
                continue
            verdict = await send_letter(self._channels[name], letter)
            context.write(Stream.ROTA, describe_result(name, verdict).encode())
            if verdict.is_sent:
                sent.append(name)
                await context.checkpoint({"sent": sent})
            else:
                failed[name] = verdict
            context.progress((len(sent) + len(failed)) / len(spec.channels), name)
        return build_outcome(spec, failed)

    async def open(self) -> None:
        if self._channels:
            await run_in_thread(load_apprise)

    async def close(self) -> None:
        pass


async def read_sent_channels(context: AttemptContext) -> list[str]:
    """Return the channels that earlier attempts of this run have sent to."""
    stored = await context.resume()
    return list(stored["sent"]) if isinstance(stored, Mapping) and "sent" in stored else []


def describe_result(name: str, verdict: SendResult) -> str:
    return f"{name}: sent\n" if verdict.is_sent else f"{name}: {verdict.message}\n"


def build_outcome(spec: NotifyMessage, failed: Mapping[str, SendResult]) -> Outcome:
    if not failed:
        return Succeeded(result={"sent": list(spec.channels)})
    # A retryable failure comes first: it is the reason for the retry.
    first = min(failed.values(), key=lambda verdict: verdict.final)
    message = "; ".join(f"{name}: {verdict.message}" for name, verdict in failed.items())
    return Failed(
        failure=Failure(type=first.type, message=message),
        final=all(verdict.final for verdict in failed.values()),
        reached=False if first.is_service_down else None,
    )
