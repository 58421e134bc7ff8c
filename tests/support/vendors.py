"""The services of vendors, on this machine: a proxy that ends TLS and keeps what it gets.

A program that honours HTTPS_PROXY connects to it and asks for events.pagerduty.com; it gets a
certificate of that name from an authority that REQUESTS_CA_BUNDLE names. So the real client sends
the real bytes, and no request leaves the machine.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

SLACK_HOST = "hooks.slack.com"
TEAMS_HOST = "prod-01.westus.logic.azure.com"
PAGERDUTY_HOST = "events.pagerduty.com"
JIRA_HOST = "api.atlassian.com"
TELEGRAM_HOST = "api.telegram.org"
DISCORD_HOST = "discord.com"
HOSTS = (SLACK_HOST, TEAMS_HOST, PAGERDUTY_HOST, JIRA_HOST, TELEGRAM_HOST, DISCORD_HOST)
# Status and body with which each service accepts a message.
ACCEPTED: dict[str, tuple[int, str]] = {
    SLACK_HOST: (200, "ok"),
    TEAMS_HOST: (202, ""),
    PAGERDUTY_HOST: (202, '{"status": "success", "dedup_key": "x"}'),
    JIRA_HOST: (202, '{"result": "Request will be processed", "requestId": "43a29c5c"}'),
    TELEGRAM_HOST: (200, '{"ok": true, "result": {"message_id": 1}}'),
    DISCORD_HOST: (204, ""),
}
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
CENTURY = timedelta(days=36_500)


@dataclass(frozen=True, kw_only=True)
class VendorRequest:
    host: str
    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(kw_only=True)
class Vendors:
    """`replies` are answers by host, one after the other; then the service accepts."""

    url: str = ""
    authority: Path = Path()
    requests: list[VendorRequest] = field(default_factory=list)
    replies: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    tls: ssl.SSLContext = field(default_factory=lambda: ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))

    def use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Lead every HTTPS request of this process here."""
        for name in ("HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, self.url)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(self.authority))

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            asked = await reader.readuntil(b"\r\n\r\n")
            method, authority, *_ = asked.decode().split()
            assert method == "CONNECT"
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await writer.drain()
            await writer.start_tls(self.tls)
            await self._serve(authority.partition(":")[0], reader, writer)
        writer.close()

    async def _serve(
        self, host: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {
            name.lower(): value
            for name, separator, value in (line.partition(": ") for line in lines)
            if separator
        }
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        method, target, _ = first.split()
        parts = urlsplit(target)
        self.requests.append(
            VendorRequest(
                host=host,
                method=method,
                path=parts.path,
                query=parse_qs(parts.query),
                headers=headers,
                body=body,
            )
        )
        left = self.replies.get(host)
        status, text = left.pop(0) if left else ACCEPTED[host]
        answer = text.encode()
        writer.write(
            f"HTTP/1.1 {status} said so\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(answer)}\r\nConnection: close\r\n\r\n".encode()
            + answer
        )
        await writer.drain()


@asynccontextmanager
async def open_vendors(folder: Path, hosts: Sequence[str] = HOSTS) -> AsyncIterator[Vendors]:
    authority, certificate, key = write_authority(folder, hosts)
    vendors = Vendors(authority=authority)
    vendors.tls.load_cert_chain(certificate, key)
    server = await asyncio.start_server(vendors.handle, "127.0.0.1", 0)
    vendors.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield vendors
    finally:
        server.close()


def write_authority(folder: Path, hosts: Sequence[str]) -> tuple[Path, Path, Path]:
    """The files of an authority, of a certificate for these hosts, and of its key."""
    root_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    root_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority of a test")])
    own_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0])])
    root_usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    root_id = x509.SubjectKeyIdentifier.from_public_key(root_key.public_key())
    issuer_id = x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key())

    def begin(name: x509.Name, public: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(root_name)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(LONG_AGO)
            .not_valid_after(LONG_AGO + CENTURY)
        )

    root = (
        begin(root_name, root_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(root_usage, critical=True)
        .add_extension(root_id, critical=False)
        .sign(root_key, hashes.SHA256())
    )
    own = (
        begin(own_name, key.public_key())
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts]), critical=False
        )
        .add_extension(issuer_id, critical=False)
        .sign(root_key, hashes.SHA256())
    )
    files = folder / "authority.crt", folder / "vendors.crt", folder / "vendors.key"
    files[0].write_bytes(root.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(own.public_bytes(serialization.Encoding.PEM))
    files[2].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return files
