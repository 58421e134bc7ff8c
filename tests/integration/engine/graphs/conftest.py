import pytest
from tests.support.graphing import Graphing
from tests.support.world import World


@pytest.fixture
def graphing(world: World) -> Graphing:
    return Graphing(world)
