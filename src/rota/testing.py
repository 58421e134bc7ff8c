"""`rota.testing` is `rota.sdk.testing`, under the name that people type."""

import sys

from rota.sdk import testing
from rota.sdk.testing import *  # noqa: F403 — for type checkers; at run time it is the same module

# Not a copy: `rota.testing.pytest_plugin` is found, and what one sets the other has.
sys.modules[__name__] = testing
