"""Sends a message about incidents by e-mail, with headers that connect the messages.

Apprise writes a random Message-ID, so Rota writes and sends these messages itself; apprise only
parses the URL. The Message-ID is derived from the notification: a message that is sent twice has
the same one, and most mail servers drop the second. `References` is derived from the deduplication
key, so that clients show all messages about the same incidents as one thread.
"""

import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from email.utils import format_datetime, formataddr
from hashlib import sha256
from typing import Any, Final

from rota.core.alert_channels import AlertMessage
from rota.core.alerts.messages import RenderedAlert
from rota.executors.notify.send_result import (
    SENT,
    SendResult,
    build_final_failure,
    classify_records,
)
from rota.executors.notify.sender import IDEMPOTENCY_HEADER

# Values of `mode` in a mail URL, as apprise names them.
IMPLICIT_TLS_MODE: Final = "ssl"
STARTTLS_MODE: Final = "starttls"
NO_PGP: Final = "no"
FALLBACK_DOMAIN: Final = "rota.invalid"
# Which mail addresses a header lists, in which attribute of apprise's service.
ADDRESS_HEADERS: Final = (("Cc", "cc"), ("Reply-To", "reply_to"))


def is_encrypted(service: Any) -> bool:
    """Return whether the URL asks for PGP, which only apprise can do."""
    return bool(getattr(service, "pgp_mode", NO_PGP) != NO_PGP)


def send_mail(service: Any, message: AlertMessage, rendered: RenderedAlert) -> SendResult:
    """Send one message to all recipients of the URL. Called in a thread."""
    letter = build_mail(service, message, rendered)
    recipients = list(dict.fromkeys([address for _, address in service.targets]))
    recipients += sorted({*service.cc, *service.bcc} - set(recipients))
    if not recipients:
        return build_final_failure("bad channel", "the URL of this channel names no recipient")
    try:
        with open_smtp(service) as smtp:
            refused = smtp.send_message(letter, service.from_addr[1], recipients)
    except (OSError, smtplib.SMTPException) as error:
        return classify_records([f"{type(error).__name__}: {error}"])
    return classify_records([str(refused)]) if refused else SENT


def build_mail(service: Any, message: AlertMessage, rendered: RenderedAlert) -> EmailMessage:
    """Write the message: plain text, with derived ids."""
    domain = service.from_addr[1].rpartition("@")[2] or FALLBACK_DOMAIN
    thread = f"<{sha256(message.dedup_key.encode()).hexdigest()[:32]}.rota@{domain}>"
    letter = EmailMessage()
    letter["Subject"] = rendered.title
    letter["From"] = formataddr((service.from_addr[0] or "Rota", service.from_addr[1]))
    letter["To"] = ", ".join(formataddr((name or "", address)) for name, address in service.targets)
    for header, attribute in ADDRESS_HEADERS:
        if addresses := sorted(getattr(service, attribute)):
            letter[header] = ", ".join(addresses)
    letter["Date"] = format_datetime(message.at)
    letter["Message-ID"] = f"<{message.notification_id.hex}.rota@{domain}>"
    letter["In-Reply-To"] = letter["References"] = thread
    # No answers from people who are away.
    letter["Auto-Submitted"] = "auto-generated"
    letter[IDEMPOTENCY_HEADER] = str(message.notification_id)
    for name, value in service.headers.items():
        if name not in letter:
            letter[name] = value
    letter.set_content(rendered.body + "\n")
    return letter


@contextmanager
def open_smtp(service: Any) -> Iterator[smtplib.SMTP]:
    """Connect to the mail server of the URL and log in."""
    context = ssl.create_default_context()
    if not service.verify_certificate:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    where = (service.smtp_host, service.port)
    timeout = service.socket_connect_timeout
    if service.secure_mode == IMPLICIT_TLS_MODE:
        smtp: smtplib.SMTP = smtplib.SMTP_SSL(*where, timeout=timeout, context=context)
    else:
        smtp = smtplib.SMTP(*where, timeout=timeout)
    with smtp:
        if service.secure_mode == STARTTLS_MODE:
            smtp.starttls(context=context)
        if service.user and service.password:
            smtp.login(service.user, service.password)
        yield smtp
