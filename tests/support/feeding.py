"""What the tests of the live feed share: one look at a time."""

from rota.flow.observe.feed import Feed, FeedEvent, Stream


async def news(feed: Feed, stream: Stream) -> list[FeedEvent]:
    """What one look brings."""
    await feed.tick()
    return await stream.next() if stream._waiting or stream._last else []


async def types(feed: Feed, stream: Stream) -> list[str]:
    return [event.type for event in await news(feed, stream)]
