"""Decides which environment variables a child process inherits.

A child gets the variables that a program needs to start and to find its modules, and no others:
passwords in the worker's environment must not appear in the crash report of a handler or in the
output of a program. An operator can pass more variables by name. Variables that hold settings of
Rota, or that settings refer to, are never passed.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

# Exact names, or prefixes that end in a star. Proxies are left out: their URLs contain passwords.
INHERITED_VARIABLES: Final = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL"),
    *("LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR"),
    *("PYTHON*", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_*"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
)
ROTA_PREFIX: Final = "ROTA_"
# Where the client in a handler finds the API. The key is passed only if the operator names it.
CLIENT_VARIABLES: Final = ("ROTA_URL", "ROTA_DATA")
CLIENT_VARIABLES_ON_REQUEST: Final = ("ROTA_API_KEY",)


def select_environment(
    environment: Mapping[str, str],
    *,
    passed: Iterable[str] = (),
    withheld: Collection[str] = (),
) -> dict[str, str]:
    """Return the variables of `environment` that a child inherits.

    `passed` names further variables; `APP_*` means all that begin with APP_. Variables in
    `withheld` are never passed.
    """
    patterns = (*INHERITED_VARIABLES, *passed)
    return {
        name: value
        for name, value in environment.items()
        if name not in withheld and _is_inherited(name, patterns)
    }


def _is_inherited(name: str, patterns: Collection[str]) -> bool:
    if name.startswith(ROTA_PREFIX):
        # No pattern matches these: one of them holds the password of the database.
        is_requested = name in CLIENT_VARIABLES_ON_REQUEST and name in patterns
        return name in CLIENT_VARIABLES or is_requested
    return any(matches_pattern(name, pattern) for pattern in patterns)


def matches_pattern(name: str, pattern: str) -> bool:
    if pattern.endswith("*"):
        return name.startswith(pattern[:-1])
    return name == pattern
