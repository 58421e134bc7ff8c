"""Decides which variables a child process inherits. Room: core.

A child gets what a program needs to start and to find its modules, and nothing else: passwords in
the environment of a worker are neither in the crash report of a handler nor in the output of a
program that it starts. An operator can pass more by name. Variables that hold settings of Rota, or
that settings refer to, are never passed.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

# Exact names, or prefixes that end in a star. Proxies are left out: their URLs hold passwords.
INHERITED: Final = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL"),
    *("LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR"),
    *("PYTHON*", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_*"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
)
ROTA_PREFIX: Final = "ROTA_"
# Where the client of a handler finds the API. The key is passed only to those who name it.
CLIENT_INHERITED: Final = ("ROTA_URL", "ROTA_DATA")
CLIENT_ON_REQUEST: Final = ("ROTA_API_KEY",)


def inherited_environment(
    environment: Mapping[str, str],
    *,
    passed: Iterable[str] = (),
    withheld: Collection[str] = (),
) -> dict[str, str]:
    """The variables of `environment` that a child gets.

    `passed` names more of them, `APP_*` all that begin with APP_. `withheld` are never passed.
    """
    patterns = (*INHERITED, *passed)
    return {
        name: value
        for name, value in environment.items()
        if name not in withheld and _is_inherited(name, patterns)
    }


def _is_inherited(name: str, patterns: Collection[str]) -> bool:
    if name.startswith(ROTA_PREFIX):
        # No pattern opens these: one of them holds the password of the database.
        is_asked_for = name in CLIENT_ON_REQUEST and name in patterns
        return name in CLIENT_INHERITED or is_asked_for
    return any(matches(name, pattern) for pattern in patterns)


def matches(name: str, pattern: str) -> bool:
    if pattern.endswith("*"):
        return name.startswith(pattern[:-1])
    return name == pattern
