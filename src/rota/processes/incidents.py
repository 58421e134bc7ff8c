"""Builds the services that keep incidents and send the messages about them."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from rota.engine.alerting.incident_keeper import IncidentKeeper, InhibitionKeeper
from rota.engine.alerting.incident_pruner import IncidentPruner
from rota.engine.alerting.notification_planner import NotificationPlanner
from rota.engine.alerting.notification_sender import NotificationExpirer, NotificationSender
from rota.engine.alerting.silence_keeper import SilenceKeeper
from rota.processes.alert_channels import ConfiguredAlertChannel
from rota.runtime.service import Duty, Pulse, ServiceContext
from rota.store.driver import ConnectionSource

# A channel may take minutes to answer; it limits itself (channels.NAME.timeout).
SEND_PASS_MAX: Final = timedelta(minutes=15)
# A pass over ten thousand incidents ends long before this.
PLAN_PASS_MAX: Final = timedelta(minutes=2)


def build_incident_duties(
    source: ConnectionSource,
    channels: Mapping[str, ConfiguredAlertChannel],
    context: ServiceContext,
    *,
    keep: timedelta,
    public_url: str | None,
) -> list[Duty]:
    """Build the services. Every channel has a sender, so that a slow one delays no other."""
    clock = context.database_clock
    pulses = {name: Pulse() for name in channels}

    def wake_senders() -> None:
        for pulse in pulses.values():
            pulse.wake()

    planner = NotificationPlanner(source=source, clock=clock, on_planned=wake_senders)
    duties = [
        Duty(
            "keeping incidents", IncidentKeeper(source=source, clock=clock).tick, Pulse(), context
        ),
        Duty(
            "inhibiting incidents",
            InhibitionKeeper(source=source, clock=clock).tick,
            Pulse(),
            context,
        ),
        Duty("applying silences", SilenceKeeper(source=source, clock=clock).tick, Pulse(), context),
        Duty("planning messages", planner.tick, Pulse(), context, limit=PLAN_PASS_MAX),
        Duty(
            "giving up messages",
            NotificationExpirer(source=source, clock=clock).tick,
            Pulse(),
            context,
        ),
        Duty(
            "pruning incidents",
            IncidentPruner(source=source, clock=clock, keep=keep).tick,
            Pulse(),
            context,
        ),
    ]
    for name, configured in channels.items():
        sender = NotificationSender(
            name=name,
            channel=configured.channel,
            source=source,
            clock=clock,
            public_url=public_url,
            emit=context.emit,
        )
        duties.append(
            Duty(
                f"sending to channel {name}",
                sender.tick,
                pulses[name],
                context,
                limit=SEND_PASS_MAX,
            )
        )
    return duties
