"""Pages are sent as fast as the channel accepts them, whatever number of them waits."""

from tests.support.alerting import AlertDesk, violated
from tests.support.world import World

from rota.core.alerts.finding import Severity
from rota.engine.alerting.notification_sender import CLAIM_BATCH_MAX, NotificationSender

PAGES = CLAIM_BATCH_MAX + 5


async def test_a_full_batch_of_pages_is_followed_by_the_next_one_at_once(world: World) -> None:
    desk = AlertDesk(world)
    channel = await desk.add_channel(pages_per_hour=3600)
    await desk.find(
        *(
            violated(world, rule=f"rule {number}", job=f"job {number}", severity=Severity.PAGE)
            for number in range(PAGES)
        )
    )
    await desk.keeper.tick()
    while await desk.planner.tick() == 0.0:
        pass
    sender = NotificationSender(name="chat", channel=channel, source=desk.source, clock=desk.clock)

    rest_s = await sender.tick()
    sent_first = len(channel.messages)
    last_rest_s = await sender.tick()

    assert (rest_s, sent_first) == (0.0, CLAIM_BATCH_MAX)
    assert len(channel.messages) == PAGES
    assert last_rest_s > 0
