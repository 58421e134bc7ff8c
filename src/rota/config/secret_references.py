"""Resolves references to secrets in settings.

    url = "mailto://rota:${MAIL_PASSWORD}@mail.example.org"    a variable of the worker
    url = "mailto://rota:${file:/run/secrets/mail}@…"          the content of a file
    url = "${OPS_URL}"                                         the whole value

A reference inside a longer text is percent-encoded, because that text is a URL and the secret is a
part of it. A reference that is the whole text is used as it is. Only the process that needs a
secret resolves it: an API or a scheduler may read the same file without access to the secret.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from rota.core.errors import InvalidSetting

REFERENCE = re.compile(r"\$\{([^{}]*)\}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
FILE_PREFIX = "file:"
SECRET_CHARS_MAX = 64 * 1024


def resolve_references(text: str, *, field: str, environment: Mapping[str, str]) -> str:
    """Replace the references in a text. `field` is the path of the setting, for errors."""
    if whole := REFERENCE.fullmatch(text):
        return look_up(whole[1], field, environment)
    return REFERENCE.sub(lambda match: quote(look_up(match[1], field, environment), safe=""), text)


def look_up(name: str, field: str, environment: Mapping[str, str]) -> str:
    if name.startswith(FILE_PREFIX):
        return read_secret_file(name.removeprefix(FILE_PREFIX), field)
    shown = f"${{{name}}}"
    if VARIABLE.fullmatch(name) is None:
        raise InvalidSetting(field, shown, "expected ${NAME} or ${file:/path/of/a/file}")
    # An empty variable counts as absent, as everywhere in the settings.
    if not (value := environment.get(name)):
        raise InvalidSetting(field, shown, f"set the environment variable {name} of this process")
    return value


def read_secret_file(path: str, field: str) -> str:
    """Read a file and drop the trailing line break."""
    shown = f"${{{FILE_PREFIX}…}}"
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise InvalidSetting(field, shown, f"the file {path} must be readable: {reason}") from None
    text = text.removesuffix("\n").removesuffix("\r")
    if not 1 <= len(text) <= SECRET_CHARS_MAX:
        raise InvalidSetting(
            field, shown, f"the file {path} must contain 1 to {SECRET_CHARS_MAX} characters"
        )
    return text
