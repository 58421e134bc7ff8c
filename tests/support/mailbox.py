"""A mail server that keeps what it gets; a test may tell it to refuse."""

# ruff: noqa: ARG002, N802 - names and arguments are those that aiosmtpd calls

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword

OK = "250 taken"


@dataclass(kw_only=True)
class Mailbox:
    """`replies` are answers to recipients, by address, one after the other; who has none left is
    welcome.
    """

    port: int = 0
    password: str | None = None
    # STARTTLS; with `is_implicit`, TLS from the first byte.
    tls: ssl.SSLContext | None = None
    is_implicit: bool = False
    replies: dict[str, list[str]] = field(default_factory=dict)
    messages: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Envelope, address: str, options: Any
    ) -> str:
        left = self.replies.get(address)
        answer = left.pop(0) if left else OK
        if answer == OK:
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:
        content = envelope.content
        assert isinstance(content, bytes)
        message = message_from_bytes(content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.messages.append(message)
        self.recipients += envelope.rcpt_tos
        return OK

    def judge(
        self, server: Any, session: Any, envelope: Any, mechanism: str, given: Any
    ) -> AuthResult:
        right = (
            isinstance(given, LoginPassword) and given.password == (self.password or "").encode()
        )
        return AuthResult(success=right, handled=False)

    def talk(self) -> SMTP:
        if self.password is None:
            offered = None if self.is_implicit else self.tls
            return SMTP(
                self,
                hostname="mail.test",
                tls_context=offered,
                require_starttls=offered is not None,
            )
        return SMTP(
            self,
            hostname="mail.test",
            authenticator=self.judge,
            auth_require_tls=False,
        )


@asynccontextmanager
async def mailbox(**given: Any) -> AsyncIterator[Mailbox]:
    box = Mailbox(**given)
    server = await asyncio.get_running_loop().create_server(
        box.talk, "127.0.0.1", 0, ssl=box.tls if box.is_implicit else None
    )
    box.port = server.sockets[0].getsockname()[1]
    try:
        yield box
    finally:
        server.close()


def text_of(message: EmailMessage, kind: str = "plain") -> str:
    """The part of a message that a reader sees."""
    part = message.get_body((kind,))
    assert part is not None
    content = part.get_content()
    assert isinstance(content, str)
    return content.strip()
