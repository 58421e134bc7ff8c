"""What the tests of the live feed share: one look at a time."""

from rota.engine.observability.feed import FeedItem, FeedSubscription, LiveFeed


async def news(feed: LiveFeed, stream: FeedSubscription) -> list[FeedItem]:
    """What one look brings."""
    await feed.tick()
    return await stream.next() if stream._waiting or stream._last else []


async def types(feed: LiveFeed, stream: FeedSubscription) -> list[str]:
    return [event.type for event in await news(feed, stream)]
