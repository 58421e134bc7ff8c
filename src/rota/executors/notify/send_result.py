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
RETRYABLE_STATUSES = frozenset({408, 425, 429})

# The prefix of the log record in which a plug-in reports a network error.
CAUSE_PREFIX = "Socket Exception"
HTTP_STATUS = re.compile(r"\berror=(?P<code>[1-5]\d\d)\b", re.ASCII)
# As smtplib writes them: (535, b'…'), also inside the replies per recipient.
SMTP_REPLY = re.compile(r"\((?P<code>[45]\d\d), b['\"]", re.ASCII)
SMTP_REFUSAL = re.compile(r"was refused: (?P<code>[45]\d\d) ", re.ASCII)
# Reply codes that mean the login is wrong, independent of the message.
LOGIN_REPLIES = frozenset({530, 534, 535, 538})
NETWORK_ERROR_PATTERNS = (
    (re.compile(r"CERTIFICATE_VERIFY_FAILED|SSLError|WRONG_VERSION", re.ASCII), "tls"),
    (
        re.compile(r"getaddrinfo|[Nn]ame or service|name resolution|NameResolution", re.ASCII),
        "name not resolved",
    ),
    (re.compile(r"timed out|Timeout", re.ASCII), "timeout"),
    (re.compile(r"[Rr]efused|[Uu]nreachable|reset by peer|Connection", re.ASCII), "network"),
)
NETWORK_ERROR_MESSAGES = {
    "tls": "the TLS connection failed",
    "name not resolved": "the name of the server could not be resolved",
    "timeout": "no response in time",
    "network": "no connection",
}

SERVICE_DOWN_TYPES = frozenset(
    {"name not resolved", "timeout", "network", "http 502", "http 503", "http 504"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SendResult:
    """The result for one channel: sent if `type` is empty, else the error, `final` or not."""

    type: str = ""
    message: str = ""
    final: bool = False

    @property
    def is_sent(self) -> bool:
        return not self.type

    @property
    def is_service_down(self) -> bool:
        """Whether the service was down, independent of the message."""
        return self.type in SERVICE_DOWN_TYPES


SENT = SendResult()


def build_final_failure(type_: str, message: str) -> SendResult:
    return SendResult(type=type_, message=message, final=True)


def build_retryable_failure(type_: str, message: str) -> SendResult:
    return SendResult(type=type_, message=message)


def classify_records(records: Sequence[str]) -> SendResult:
    """Find out why a message was not sent; the last record counts, as apprise may have retried."""
    for text in reversed(records):
        if match := HTTP_STATUS.search(text):
            return classify_status(int(match["code"]))
        if match := SMTP_REPLY.search(text) or SMTP_REFUSAL.search(text):
            return classify_reply(int(match["code"]))
        for pattern, type_ in NETWORK_ERROR_PATTERNS:
            if pattern.search(text):
                return build_retryable_failure(type_, NETWORK_ERROR_MESSAGES[type_])
    return build_retryable_failure("not sent", "the service did not accept the message")


def classify_status(code: int) -> SendResult:
    try:
        phrase = f" ({HTTPStatus(code).phrase})"
    except ValueError:
        phrase = ""
    final = code < 500 and code not in RETRYABLE_STATUSES
    return SendResult(
        type=f"http {code}", message=f"the service answered {code}{phrase}", final=final
    )


def classify_reply(code: int) -> SendResult:
    if code in LOGIN_REPLIES:
        return build_final_failure("login refused", f"the mail server refused the login ({code})")
    return SendResult(
        type=f"smtp {code}", message=f"the mail server answered {code}", final=code >= 500
    )


class LogCapture(logging.Filter):
    """Captures apprise's log records inside `listening()`; passes all others on as configured."""

    def __init__(self, configured_level: int) -> None:
        super().__init__()
        self._configured_level = configured_level
        # Apprise may use threads of its own, which get a copy of the context.
        self._listener: ContextVar[list[str] | None] = ContextVar("listener", default=None)

    def filter(self, record: logging.LogRecord) -> bool:
        heard = self._listener.get()
        if heard is None:
            return record.levelno >= self._configured_level
        text = record.getMessage()
        # Other detailed records quote the message or a server's response, which could look like an
        # error.
        if record.levelno >= logging.WARNING or text.startswith(CAUSE_PREFIX):
            heard.append(text)
        return False

    @contextmanager
    def capture(self) -> Iterator[list[str]]:
        heard: list[str] = []
        token = self._listener.set(heard)
        try:
            yield heard
        finally:
            self._listener.reset(token)


CAPTURE_LOCK = threading.Lock()


def capture_logger(name: str) -> LogCapture:
    """Return the filter that captures a logger's records; install it on first use.

    The logger is set to DEBUG so that it emits every record. The filter drops the records that the
    level configured before would have dropped.
    """
    logger = logging.getLogger(name)
    with CAPTURE_LOCK:
        for present in logger.filters:
            if isinstance(present, LogCapture):
                return present
        eavesdropper = LogCapture(logger.getEffectiveLevel())
        logger.addFilter(eavesdropper)
        logger.setLevel(logging.DEBUG)
        return eavesdropper
