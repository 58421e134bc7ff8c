"""Names the kinds of channels, by the scheme of their URL.

The kind is shown to people and decides which messages a channel needs; the URL is never shown.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

EMAIL: Final = "email"
SLACK: Final = "slack"
TEAMS: Final = "teams"
PAGERDUTY: Final = "pagerduty"
JIRA: Final = "jira"
ALERTMANAGER: Final = "alertmanager"
WEBHOOK: Final = "webhook"

KIND_OF_SCHEME: Final[Mapping[str, str]] = {
    "mailto": EMAIL,
    "mailtos": EMAIL,
    "slack": SLACK,
    "msteams": TEAMS,
    "workflow": TEAMS,
    "workflows": TEAMS,
    "pagerduty": PAGERDUTY,
    "jira": JIRA,
    "tgram": "telegram",
}
# Services whose own https:// URLs apprise accepts.
KIND_OF_HOST: Final[Mapping[str, str]] = {
    "hooks.slack.com": SLACK,
    "discord.com": "discord",
}
TEAMS_HOST_SUFFIXES: Final = (".logic.azure.com", ".powerplatform.com")
# They keep an alert open until they receive its end.
KINDS_WITH_OPEN_ALERTS: Final = frozenset({PAGERDUTY, JIRA, ALERTMANAGER})
# Rota sends these itself, to URLs such as webhook+https://…; apprise sends all others.
OWN_KINDS: Final = frozenset({ALERTMANAGER, WEBHOOK})
UNKNOWN_KIND: Final = "unknown"


def find_channel_kind(url: str) -> str:
    """Return the kind of a channel with this URL: a known name, else the scheme."""
    scheme, separator, _ = url.partition("://")
    scheme = scheme.lower()
    if not separator or not scheme.replace("+", "").replace("-", "").isalnum():
        return UNKNOWN_KIND
    if (own_kind := scheme.partition("+")[0]) in OWN_KINDS:
        return own_kind
    if scheme == "https":
        return _find_kind_of_host(url) or scheme
    return KIND_OF_SCHEME.get(scheme, scheme)


def is_recovery_required(kind: str) -> bool:
    """Return whether a channel needs the message that ends an incident in any case."""
    return kind in KINDS_WITH_OPEN_ALERTS


def _find_kind_of_host(url: str) -> str | None:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return None
    if host.endswith(TEAMS_HOST_SUFFIXES):
        return TEAMS
    return KIND_OF_HOST.get(host)
