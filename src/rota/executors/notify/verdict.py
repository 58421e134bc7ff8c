"""Classifies the result of sending a message, from what apprise logs.

Apprise returns only success or failure. The reason is in its log, which can also hold tokens and
passwords. So Rota captures the log records, searches them for a few harmless facts (a status, a
mail server's reply code, the sort of network error) and discards them. They are never shown.
"""

import logging
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from http import HTTPStatus

# Retryable; all other 4xx statuses are final.
AGAIN = frozenset({408, 425, 429})

# The prefix of the log record in which a plug-in reports a network error.
CAUSE = "Socket Exception"
STATUS = re.compile(r"\berror=(?P<code>[1-5]\d\d)\b", re.ASCII)
# As smtplib writes them: (535, b'…'), also inside the replies per recipient.
REPLY = re.compile(r"\((?P<code>[45]\d\d), b['\"]", re.ASCII)
REFUSED = re.compile(r"was refused: (?P<code>[45]\d\d) ", re.ASCII)
# Reply codes that mean the login is wrong, independent of the message.
LOGIN = frozenset({530, 534, 535, 538})
MARKS = (
    (re.compile(r"CERTIFICATE_VERIFY_FAILED|SSLError|WRONG_VERSION", re.ASCII), "tls"),
    (
        re.compile(r"getaddrinfo|[Nn]ame or service|name resolution|NameResolution", re.ASCII),
        "name not resolved",
    ),
    (re.compile(r"timed out|Timeout", re.ASCII), "timeout"),
    (re.compile(r"[Rr]efused|[Uu]nreachable|reset by peer|Connection", re.ASCII), "network"),
)
SENTENCES = {
    "tls": "the TLS connection failed",
    "name not resolved": "the name of the server could not be resolved",
    "timeout": "no response in time",
    "network": "no connection",
}

AWAY = frozenset({"name not resolved", "timeout", "network", "http 502", "http 503", "http 504"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result for one channel: sent if `type` is empty, else the error, `final` or not."""

    type: str = ""
    message: str = ""
    final: bool = False

    @property
    def is_sent(self) -> bool:
        return not self.type

    @property
    def is_away(self) -> bool:
        """Whether the service was down, independent of the message."""
        return self.type in AWAY


SENT = Verdict()


def refused(type_: str, message: str) -> Verdict:
    return Verdict(type=type_, message=message, final=True)


def missed(type_: str, message: str) -> Verdict:
    return Verdict(type=type_, message=message)


def judge(heard: Sequence[str]) -> Verdict:
    """Find out why a message was not sent; the last record counts, as apprise may have retried."""
    for text in reversed(heard):
        if match := STATUS.search(text):
            return of_status(int(match["code"]))
        if match := REPLY.search(text) or REFUSED.search(text):
            return of_reply(int(match["code"]))
        for pattern, type_ in MARKS:
            if pattern.search(text):
                return missed(type_, SENTENCES[type_])
    return missed("not sent", "the service did not accept the message")


def of_status(code: int) -> Verdict:
    try:
        phrase = f" ({HTTPStatus(code).phrase})"
    except ValueError:
        phrase = ""
    final = code < 500 and code not in AGAIN
    return Verdict(type=f"http {code}", message=f"the service answered {code}{phrase}", final=final)


def of_reply(code: int) -> Verdict:
    if code in LOGIN:
        return refused("login refused", f"the mail server refused the login ({code})")
    return Verdict(
        type=f"smtp {code}", message=f"the mail server answered {code}", final=code >= 500
    )


class Eavesdropper(logging.Filter):
    """Captures apprise's log records inside `listening()`; passes all others on as configured."""

    def __init__(self, usual: int) -> None:
        super().__init__()
        self._configured_level = usual
        # Apprise may use threads of its own, which get a copy of the context.
        self._listener: ContextVar[list[str] | None] = ContextVar("listener", default=None)

    def filter(self, record: logging.LogRecord) -> bool:
        heard = self._listener.get()
        if heard is None:
            return record.levelno >= self._configured_level
        text = record.getMessage()
        # Other detailed records quote the message or a server's response, which could look like an
        # error.
        if record.levelno >= logging.WARNING or text.startswith(CAUSE):
            heard.append(text)
        return False

    @contextmanager
    def listening(self) -> Iterator[list[str]]:
        heard: list[str] = []
        token = self._listener.set(heard)
        try:
            yield heard
        finally:
            self._listener.reset(token)


FIRST = threading.Lock()


def eavesdrop(name: str) -> Eavesdropper:
    """Return the filter that captures a logger's records; install it on first use.

    The logger is set to DEBUG so that it emits every record. The filter drops the records that the
    level configured before would have dropped.
    """
    logger = logging.getLogger(name)
    with FIRST:
        for present in logger.filters:
            if isinstance(present, Eavesdropper):
                return present
        eavesdropper = Eavesdropper(logger.getEffectiveLevel())
        logger.addFilter(eavesdropper)
        logger.setLevel(logging.DEBUG)
        return eavesdropper
