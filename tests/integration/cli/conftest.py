"""One installation for all tests of the commands: each makes things of its own in it."""

from collections.abc import Iterator

import pytest
from tests.support.installation import Installation, installed


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installed(tmp_path_factory.mktemp("installation")) as found:
        yield found
