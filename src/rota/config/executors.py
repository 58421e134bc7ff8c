"""The settings of the built-in executors, and the things that jobs know by name only. Room: config.

A payload says `"channel": "ops"`; where that leads and with which password is written here, on the
worker's own machine. Texts may refer to secrets that are elsewhere (references.py).
"""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct, field

from rota.config.declaring import (
    MINUTE,
    SECOND,
    TenantNames,
    choice,
    number,
    span,
    tenant_list,
    text,
)
from rota.core.tenancy import DEFAULT_TENANTS


class Channel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where messages of the kind `notify` go."""

    url: Annotated[
        str,
        text(
            "a URL of apprise such as mailto://rota:${MAIL_PASSWORD}@example.org",
            "Service, account and recipients, as apprise writes them.",
            secret=True,
            min_length=1,
            max_length=4096,
        ),
    ]
    allow_to: Annotated[
        bool, choice("Whether a payload may name other recipients; for e-mail only.")
    ] = False
    timeout: Annotated[
        timedelta, span(SECOND, 5 * MINUTE, "Longest time that one message may take.")
    ] = 30 * SECOND
    tenants: Annotated[TenantNames, tenant_list("Tenants whose jobs may use it.")] = DEFAULT_TENANTS

    def __repr__(self) -> str:
        return f"Channel(url='***', allow_to={self.allow_to}, …)"


class Webhook(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What requests of the kind `webhook` are signed with."""

    secrets: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=512)], ...],
        text(
            "a list of secrets such as ${PARTNER_SECRET}, each whsec_ and the base64 of 24 to 64 "
            "bytes",
            "Secrets that the receiver knows; while one replaces another, both.",
            secret=True,
            min_length=1,
            max_length=4,
        ),
    ]
    hosts: Annotated[
        tuple[str, ...],
        text(
            "a list of host names",
            "The only hosts that may be sent something signed with it; by default any.",
            max_length=100,
        ),
    ] = ()
    tenants: Annotated[TenantNames, tenant_list("Tenants whose jobs may use it.")] = DEFAULT_TENANTS

    def __repr__(self) -> str:
        return f"Webhook(secrets='***', hosts={self.hosts})"


class Place(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where jobs of the kind `sync` may read and write: a folder, a bucket, another machine."""

    url: Annotated[
        str,
        text(
            "a URL such as file:///srv/photos, s3://bucket/folder, gs://bucket/folder, "
            "az://container/folder or sftp://user@host:22/folder",
            "The folder; nothing above it can be reached.",
            secret=True,
            min_length=1,
            max_length=4096,
        ),
    ]
    endpoint: Annotated[
        str | None,
        text("a URL such as https://minio.example:9000", "Where a store of one's own is."),
    ] = None
    region: Annotated[
        str | None, text("the name of a region", "Region of an S3 bucket; us-east-1 by default.")
    ] = None
    account: Annotated[
        str | None,
        text(
            "a text or a reference such as ${S3_KEY_ID}",
            "Id of the access key (S3) or name of the storage account (Azure).",
        ),
    ] = None
    secret: Annotated[
        str | None,
        text(
            "a reference such as ${S3_SECRET} or ${file:/run/secrets/s3}",
            "Secret of the access key (S3), key of the account (Azure), service account as JSON "
            "(Google), passphrase of `key_file` or password (SFTP). Without it, object stores get "
            "the credentials that the worker's environment has.",
            secret=True,
        ),
    ] = None
    key_file: Annotated[Path | None, text("the path of a private key", "Key for SFTP.")] = None
    host_keys: Annotated[
        tuple[str, ...],
        text(
            'a list of fingerprints such as "SHA256:…"',
            "Keys of which the machine must show one (SFTP); `ssh-keygen -lf` tells them.",
            max_length=20,
        ),
    ] = ()
    read_only: Annotated[bool, choice("Whether jobs may read from it only.")] = False
    tenants: Annotated[TenantNames, tenant_list("Tenants whose jobs may use it.")] = DEFAULT_TENANTS

    def __repr__(self) -> str:
        return f"Place(url='***', read_only={self.read_only}, …)"


class Connection(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A database or an object store that jobs of the kinds `sql` and `etl` may use."""

    url: Annotated[
        str,
        text(
            "a URL such as postgresql://rota:${SHOP_PASSWORD}@db.example/shop, mysql://…, "
            "sqlite:///srv/shop.db, duckdb:///srv/shop.duckdb, s3://key:${SECRET}@bucket/folder, "
            "gs://… or az://…",
            "Where it is, and with which account.",
            secret=True,
            min_length=1,
            max_length=65_536,
        ),
    ]
    read_only: Annotated[bool, choice("Whether jobs may read from it only.")] = False
    tenants: Annotated[TenantNames, tenant_list("Tenants whose jobs may use it.")] = DEFAULT_TENANTS

    def __repr__(self) -> str:
        return f"Connection(url='***', read_only={self.read_only})"


class Executors(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the built-in executors of a worker may do. It is said on the worker's own machine, never
    through the API.
    """

    shell_allow: Annotated[
        tuple[str, ...],
        text(
            'a list of programs by their absolute paths, or ["*"] for all',
            "Programs that jobs of the kind `shell` may run. Without any, the kind is off.",
            max_length=100,
        ),
    ] = ()
    shell_user: Annotated[
        str | None,
        text(
            "the name of a user",
            "User that programs of `shell` jobs run as. A worker that runs as root and allows "
            "programs does not start without it; a worker of another user runs programs as itself. "
            "`root` gives every shell job all rights on the machine. Default: none.",
        ),
    ] = None
    shell_tenants: Annotated[
        TenantNames, tenant_list("Tenants whose jobs may be of the kind `shell`.")
    ] = DEFAULT_TENANTS
    http_allow_networks: Annotated[
        tuple[str, ...],
        text(
            "a list of networks such as 10.0.0.0/8",
            "Private networks that jobs of the kind `http` may reach; by default none.",
            max_length=100,
        ),
    ] = ()
    http_deny_networks: Annotated[
        tuple[str, ...],
        text(
            "a list of networks such as 10.1.2.0/24",
            "Networks that jobs of the kind `http` may never reach, whatever else is allowed.",
            max_length=100,
        ),
    ] = ()
    http_allow_hosts: Annotated[
        tuple[str, ...],
        text(
            "a list of host names",
            "Hosts that jobs of the kind `http` may reach wherever their names lead.",
            max_length=100,
        ),
    ] = ()
    http_allow_ports: Annotated[
        tuple[Annotated[int, Meta(ge=1, le=65_535)], ...],
        text(
            "a list of ports",
            "Ports that jobs of the kind `http` may use beside 80, 443, 8080 and 8443.",
            max_length=100,
        ),
    ] = ()
    http_allow_tenants: Annotated[
        TenantNames,
        tenant_list(
            "Tenants for whom `http_allow_networks`, `http_allow_hosts` and `http_allow_ports` "
            "hold, also in jobs of the kind `webhook`. Jobs of the others reach the public "
            "internet on the usual ports."
        ),
    ] = DEFAULT_TENANTS
    channels: Annotated[
        dict[str, Channel],
        text(
            "a table of channels by their names",
            "Where jobs of the kind `notify` may send messages. Without any, the kind is off.",
            secret=True,
        ),
    ] = field(default_factory=dict)
    webhooks: Annotated[
        dict[str, Webhook],
        text(
            "a table of webhooks by their names",
            "What jobs of the kind `webhook` may sign with. Without any, the kind is off.",
            secret=True,
        ),
    ] = field(default_factory=dict)
    places: Annotated[
        dict[str, Place],
        text(
            "a table of places by their names",
            "Where jobs of the kind `sync` may read and write. Without any, the kind is off.",
        ),
    ] = field(default_factory=dict)
    connections: Annotated[
        dict[str, Connection],
        text(
            "a table of connections by their names",
            "What jobs of the kinds `sql` and `etl` may use. A worker without any, and without a "
            "data folder, leaves such jobs to others.",
            secret=True,
        ),
    ] = field(default_factory=dict)
    data_folder: Annotated[
        Path | None,
        text(
            "the path of a folder, written out",
            "Folder in which jobs of the kinds `sql` and `etl` read and write files, and out of "
            "which no path leads them. Without it they have no files.",
        ),
    ] = None
    data_folder_tenants: Annotated[
        TenantNames,
        tenant_list(
            "Tenants whose jobs may read and write files in `data_folder`. They all see the same "
            "files."
        ),
    ] = DEFAULT_TENANTS
    etl_memory: Annotated[
        int,
        number(32, 1_048_576, "Megabytes of memory that one `etl` job may use in its transform."),
    ] = 512
    etl_disk: Annotated[
        int,
        number(16, 16_777_216, "Megabytes of disk that one may use for what memory cannot hold."),
    ] = 10_240
    etl_folder: Annotated[
        Path | None,
        text(
            "the path of a folder, written out",
            "Where the work folders of `etl` jobs are; by default where temporary files go.",
        ),
    ] = None
