"""TLS with several hosts: each certificate is held against the name of its own host.

The server here only speaks TLS: it accepts the request for it, shakes hands and hangs up. The
PostgreSQL of the tests is built without.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from rota.core.errors import StoreRefused, StoreUnavailable
from rota.store.pool import DatabaseAccess, open_connection

SSL_REQUEST_BYTES = 8


def certificate(folder: Path, *, name: str) -> Path:
    """A file with a certificate for this name, signed by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)  # noqa: TID251 — OpenSSL compares with the machine's clock
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{name}.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@asynccontextmanager
async def speaking_tls(pem: Path) -> AsyncIterator[int]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)

    async def shake_hands(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(SSL_REQUEST_BYTES)
        writer.write(b"S")
        try:
            await writer.start_tls(context)
        except OSError:
            return
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(shake_hands, "127.0.0.1", 0)
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()


async def test_a_host_is_verified_by_its_own_name(tmp_path: Path) -> None:
    pem = certificate(tmp_path, name="localhost")
    async with speaking_tls(pem) as one, speaking_tls(pem) as two:
        hosts = f"127.0.0.1:{one},localhost:{two}"
        url = f"postgresql://rota@{hosts}/rota?sslmode=verify-full&sslrootcert={pem}"

        with pytest.raises(StoreUnavailable) as refused:
            async with open_connection(DatabaseAccess(url=url)):
                pass

    by_address, by_name = refused.value.reason.split(f"; localhost:{two}: ")
    assert "IP address mismatch" in by_address
    assert "certificate" not in by_name


async def test_a_wrong_certificate_is_not_waited_for(tmp_path: Path) -> None:
    pem = certificate(tmp_path, name="elsewhere")
    async with speaking_tls(pem) as port:
        url = f"postgresql://rota@localhost:{port}/rota?sslmode=verify-full&sslrootcert={pem}"

        with pytest.raises(StoreRefused, match="Hostname mismatch") as refused:
            async with open_connection(DatabaseAccess(url=url)):
                pass

    assert "sslrootcert" in refused.value.remedy
