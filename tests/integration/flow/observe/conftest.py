"""A feed on the world's connection."""

import pytest
from tests.support.standing import Standing
from tests.support.world import World

from rota.flow.observe.feed import Feed


@pytest.fixture
def feed(world: World) -> Feed:
    return Feed(Standing(world.conn))
