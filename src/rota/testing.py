"""Makes `rota.sdk.testing` available under its public name, `rota.testing`."""

import sys

from rota.sdk import testing
from rota.sdk.testing import *  # noqa: F403 — for type checkers; at run time it is the same module

# Alias the module itself: `rota.testing.pytest_plugin` can be imported, and an attribute set on one
# name is visible under the other.
sys.modules[__name__] = testing
