"""Implements `Tree` for a bucket of an object store, or for a prefix in it.

Supports S3-compatible stores, Google Cloud Storage and Azure, through `obstore` (extra `sync`). An
object appears only when it has arrived completely, so temporary names are not needed. The store's
own time is the arrival; the file's time is stored as metadata under the name that rclone uses, and
so is the checksum if the job compares checksums. Listings contain neither, so the metadata of each
such file is read separately.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from rota.executors.sync.places import GCS, S3, PlaceFolder, SyncPlace
from rota.executors.sync.thread_pool import SyncThreadPool, update_digest
from rota.executors.sync.tree import (
    CHUNK_BYTES,
    LISTING_BATCH_FILES,
    SECOND_NS,
    FileDelivery,
    FileFacts,
    FileFailure,
    FileMissing,
    FileReader,
    ListingReport,
    SyncBroken,
    TreeEntry,
    new_sha256,
    split_path,
)

# The same format as rclone: seconds since 1970 with decimals.
MTIME_KEY = "mtime"
# Azure allows no dash in a metadata name.
SHA256_KEY = "rotasha256"
PART_BYTES = 8 * CHUNK_BYTES
STATUS_PATTERN = re.compile(r"status code: (\d{3})")
ERROR_CODE_PATTERN = re.compile(r"<Code>(\w{1,60})</Code>")
# Statuses after which the same request may succeed later.
RETRYABLE_STATUSES = frozenset({408, 425, 429})
# Stores accept at most 10,000 parts.
PARTS_MAX = 9000
PARALLEL_PARTS = 2
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CLIENT_OPTIONS = {
    "connect_timeout": timedelta(seconds=10),
    # Between two pieces of a response. A large file may take much longer in total.
    "read_timeout": timedelta(seconds=60),
    "timeout": timedelta(days=1),
}
RETRY_OPTIONS = {"max_retries": 4, "retry_timeout": timedelta(seconds=60)}


@dataclass(slots=True, kw_only=True)
class ObjectTree:
    location: PlaceFolder
    threads: SyncThreadPool
    nests: bool = False
    stores_sha256: bool = True
    grain: int = 1
    seen: ListingReport = field(default_factory=ListingReport)
    _store: Any = None

    @property
    def shown(self) -> str:
        return self.location.shown

    async def open(self, *, make: bool) -> bool:
        """Open the store. A prefix need not exist; the listing fails if the bucket does not."""
        del make
        self._store = await self.threads.run(open_store, self.location)
        return True

    async def close(self) -> None:
        self._store = None

    async def files(self) -> AsyncGenerator[list[TreeEntry], None]:
        with self._listing():
            async for page in self._store.list(chunk_size=LISTING_BATCH_FILES):
                yield [TreeEntry(item["path"], item["size"], None) for item in page]

    async def facts(self, path: str) -> FileFacts:
        with self._translated():
            found = await self._store.get_async(path, options={"head": True})
            return read_facts(found.meta, found.attributes)

    @contextlib.asynccontextmanager
    async def read(self, path: str) -> AsyncIterator[FileReader]:
        with self._translated():
            found = await self._store.get_async(path)
        yield ObjectReader(self, found)

    async def write(self, path: str, delivery: FileDelivery) -> None:
        metadata = {MTIME_KEY: format_seconds(delivery.facts.mtime)}
        if delivery.facts.sha256 is not None:
            metadata[SHA256_KEY] = delivery.facts.sha256
        feed = ChunkFeed(delivery.chunks())
        try:
            with self._translated(gone=FileFailure("the bucket no longer exists")):
                if delivery.facts.size <= PART_BYTES:
                    # A single request, which cannot leave an incomplete upload.
                    body = b"".join([chunk async for chunk in feed])
                    await self._store.put_async(
                        path, body, attributes=metadata, use_multipart=False
                    )
                else:
                    await self._store.put_async(
                        path,
                        feed,
                        attributes=metadata,
                        use_multipart=True,
                        chunk_size=max(PART_BYTES, -(-delivery.facts.size // PARTS_MAX)),
                        max_concurrency=PARALLEL_PARTS,
                    )
        finally:
            await feed.close()
        await self._verify(path, delivery)

    async def delete(self, path: str) -> None:
        with contextlib.suppress(FileMissing), self._translated():
            await self._store.delete_async(path)

    async def _verify(self, path: str, delivery: FileDelivery) -> None:
        """Delete an object that differs: its stored checksum would make it look correct."""
        try:
            found = await self.facts(path)
        except FileMissing:
            raise FileFailure("missing after the upload") from None
        if found.size != delivery.sent:
            await self.delete(path)
            raise FileFailure("the copy has a different size than the data sent")
        if delivery.sha256 is None:
            return
        digest = new_sha256()
        async with self.read(path) as reading, contextlib.aclosing(reading.chunks()) as chunks:
            async for chunk in chunks:
                await update_digest(digest, chunk, self.threads)
        if digest.hexdigest() != delivery.sha256:
            await self.delete(path)
            raise FileFailure("the copy has a different checksum than the data sent")

    @contextlib.contextmanager
    def _listing(self) -> Iterator[None]:
        """Treat every error of a listing as an error of the place."""
        try:
            with self._translated():
                yield
        except FileMissing:
            message = f"the place {self.location.place.name} has no such bucket"
            raise SyncBroken("place not usable", message, final=True) from None
        except FileFailure as trouble:
            message = f"the place {self.location.place.name} cannot be listed: {trouble}"
            raise SyncBroken("place not usable", message, final=True) from None

    @contextlib.contextmanager
    def _translated(self, *, gone: Exception | None = None) -> Iterator[None]:
        import obstore.exceptions as wrong  # noqa: PLC0415 - an extra

        place = self.location.place
        try:
            yield
        except FileNotFoundError:
            raise gone or FileMissing() from None
        except wrong.UnauthenticatedError:
            message = f"the place {place.name} does not accept the worker's credentials"
            raise SyncBroken("not permitted", message, final=True) from None
        except wrong.PermissionDeniedError:
            raise FileFailure("the store denies access") from None
        except (wrong.InvalidPathError, ValueError):  # control characters or invalid UTF-8
            raise FileFailure("object stores do not support this file name") from None
        except wrong.BaseError as error:
            raise self._translate_status(str(error)) from None

    def _translate_status(self, text: str) -> Exception:
        """Translate a status for which the library has no error class, as when listing."""
        place, match = self.location.place, STATUS_PATTERN.search(text)
        if match is None:
            return SyncBroken("store not reached", f"{place.name}: {place.clean_message(text)}")
        status, code = int(match[1]), ERROR_CODE_PATTERN.search(text)
        reason = f"{place.name} answered {status}" + (f" {code[1]}" if code else "")
        if status == 404:
            return FileMissing()
        if status in {401, 403}:
            return SyncBroken("not permitted", reason, final=True)
        final = 300 <= status < 500 and status not in RETRYABLE_STATUSES
        return SyncBroken("store refused" if final else "store not reached", reason, final=final)


class ChunkFeed:
    """Provides chunks to a library that reads them in a task of its own.

    The library may still be reading when the upload is cancelled.
    """

    def __init__(self, chunks: AsyncGenerator[bytes, None]) -> None:
        self._chunks = chunks
        self._reader: asyncio.Task[Any] | None = None
        self._lock = asyncio.Lock()

    def __aiter__(self) -> "ChunkFeed":
        return self

    async def __anext__(self) -> bytes:
        async with self._lock:
            self._reader = asyncio.current_task()
            try:
                return await anext(self._chunks)
            finally:
                self._reader = None

    async def close(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
        async with self._lock:
            await self._chunks.aclose()


class ObjectReader:
    """An object open for reading: a snapshot from the time when reading began."""

    def __init__(self, tree: ObjectTree, found: Any) -> None:
        self._tree = tree
        self._found = found
        self.facts = read_facts(found.meta, found.attributes)

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        with self._tree._translated():  # noqa: SLF001 - both classes belong together
            async for chunk in self._found.stream(min_chunk_size=CHUNK_BYTES):
                yield bytes(chunk)


def read_facts(meta: Any, attributes: Any) -> FileFacts:
    """Return the attributes with the stored time, or else the arrival (to the second)."""
    sha256 = attributes.get(SHA256_KEY)
    mtime = parse_nanoseconds(attributes.get(MTIME_KEY))
    if mtime is not None:
        return FileFacts(size=meta["size"], mtime=mtime, sha256=sha256)
    arrived = (meta["last_modified"] - EPOCH) // timedelta(seconds=1) * SECOND_NS
    return FileFacts(
        size=meta["size"], mtime=arrived, grain=SECOND_NS, is_arrival=True, sha256=sha256
    )


def format_seconds(nanoseconds: int) -> str:
    return str(Decimal(nanoseconds) / SECOND_NS)


def parse_nanoseconds(text: str | None) -> int | None:
    """Parse seconds, or a timestamp as other programs write it on GCS and Azure."""
    if text is None:
        return None
    with contextlib.suppress(InvalidOperation, ValueError, OverflowError):
        return int(Decimal(text) * SECOND_NS)
    with contextlib.suppress(ValueError):
        at = datetime.fromisoformat(text)
        if at.tzinfo is not None:
            return (at - EPOCH) // timedelta(microseconds=1) * 1000
    return None


def open_store(location: PlaceFolder) -> Any:
    place = location.place
    try:
        from obstore import store as stores  # noqa: PLC0415 - an extra
    except ImportError:
        message = f"the place {place.name} needs rota[sync] on this worker: obstore is missing"
        raise SyncBroken("extra missing", message, final=True) from None
    prefix = "/".join([*split_path(place.path), *split_path(location.path)]) or None
    client = {**CLIENT_OPTIONS, "allow_http": (place.endpoint or "").startswith("http://")}
    shared: dict[str, Any] = {
        "prefix": prefix,
        "client_options": client,
        "retry_config": RETRY_OPTIONS,
    }
    try:
        if place.scheme == S3:
            return stores.S3Store(
                place.host,
                config=build_s3_config(place),
                credential_provider=build_s3_credentials(place),
                **shared,
            )
        if place.scheme == GCS:
            return stores.GCSStore(place.host, config=build_gcs_config(place), **shared)
        return stores.AzureStore(place.host, config=build_azure_config(place), **shared)
    except Exception as error:  # noqa: BLE001 - many error classes, all show the configuration
        message = f"the place {place.name} cannot be used: {place.clean_message(error)}"
        raise SyncBroken("place not usable", message, final=True) from None


def build_s3_config(place: SyncPlace) -> Any:
    return drop_missing(endpoint=place.endpoint, region=place.region or "us-east-1")


def build_s3_credentials(place: SyncPlace) -> Any:
    """Return a provider of the place's key only.

    As plain settings, obstore would combine the key with a session token of the worker's
    environment, and the store would refuse it.
    """
    if place.secret is None:
        return None
    key = {"access_key_id": place.account, "secret_access_key": place.secret}
    return lambda: {**key, "token": None, "expires_at": None}


def build_gcs_config(place: SyncPlace) -> Any:
    return drop_missing(base_url=place.endpoint, service_account_key=place.secret)


def build_azure_config(place: SyncPlace) -> Any:
    return drop_missing(
        endpoint=place.endpoint, account_name=place.account, account_key=place.secret
    )


def drop_missing(**settings: str | None) -> dict[str, str]:
    return {name: value for name, value in settings.items() if value is not None}
