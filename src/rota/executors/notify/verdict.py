"""What came of a message, read from what apprise says while it sends. Room: executors/notify.

Apprise answers yes or no; why it was no, it only logs, and what it logs can hold tokens and
passwords. So its words are listened to, searched for a few things that are known to be harmless (a
status, a code of a mail server, the sort of a network error) and dropped; never are they shown.
"""

import logging
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from http import HTTPStatus

# Too early, too busy, or late; all other 4xx are for good.
AGAIN = frozenset({408, 425, 429})

# How its plug-ins begin to say which error there was on the way.
CAUSE = "Socket Exception"
STATUS = re.compile(r"\berror=(?P<code>[1-5]\d\d)\b", re.ASCII)
# As smtplib writes them: (535, b'…'), also inside of what each recipient got.
REPLY = re.compile(r"\((?P<code>[45]\d\d), b['\"]", re.ASCII)
REFUSED = re.compile(r"was refused: (?P<code>[45]\d\d) ", re.ASCII)
# A mail server that says this is talked to wrongly, whatever is sent.
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
    "tls": "no secure connection could be agreed on",
    "name not resolved": "the name of the server is not known",
    "timeout": "no answer in time",
    "network": "no connection",
}

AWAY = frozenset({"name not resolved", "timeout", "network", "http 502", "http 503", "http 504"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Sent, if there is no `type`; otherwise why not, and whether trying again can help."""

    type: str = ""
    message: str = ""
    final: bool = False

    @property
    def is_sent(self) -> bool:
        return not self.type

    @property
    def is_away(self) -> bool:
        """Nobody took a message, whichever it was."""
        return self.type in AWAY


SENT = Verdict()


def refused(type_: str, message: str) -> Verdict:
    return Verdict(type=type_, message=message, final=True)


def missed(type_: str, message: str) -> Verdict:
    return Verdict(type=type_, message=message)


def judge(heard: Sequence[str]) -> Verdict:
    """Why a message was not sent; the last word counts, as apprise may have tried several ways."""
    for words in reversed(heard):
        if found := STATUS.search(words):
            return of_status(int(found["code"]))
        if found := REPLY.search(words) or REFUSED.search(words):
            return of_reply(int(found["code"]))
        for mark, type_ in MARKS:
            if mark.search(words):
                return missed(type_, SENTENCES[type_])
    return missed("not sent", "the service did not take the message")


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
    """Takes what apprise says to those who listen; what it says to others goes its way."""

    def __init__(self, usual: int) -> None:
        super().__init__()
        self._usual = usual
        # Apprise may go on in threads of its own, which get a copy of the context.
        self._listener: ContextVar[list[str] | None] = ContextVar("listener", default=None)

    def filter(self, record: logging.LogRecord) -> bool:
        heard = self._listener.get()
        if heard is None:
            return record.levelno >= self._usual
        words = record.getMessage()
        # What else it says in detail is the message itself, or what a server answered: words of
        # others, which could look like an error.
        if record.levelno >= logging.WARNING or words.startswith(CAUSE):
            heard.append(words)
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
    """Listen to a logger. It has to say everything for that, also to those who did not ask; the
    filter keeps from them what they would not have heard before.
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
