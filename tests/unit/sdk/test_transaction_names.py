"""`rota.in_transaction`, and `rota.within`, its deprecated name."""

import warnings
from typing import Any

import pytest

import rota
from rota.sdk.transaction import AsyncTransactionSubmitter, TransactionSubmitter


def connection(name: str) -> Any:
    """An object whose class has the name of a driver's connection class."""
    package, _, class_name = name.partition(".")
    return type(class_name, (), {"__module__": package})()


CONNECTIONS = [
    ("psycopg.Connection", TransactionSubmitter),
    ("asyncpg.Connection", AsyncTransactionSubmitter),
]


@pytest.mark.parametrize(("name", "expected"), CONNECTIONS)
def test_in_transaction_does_not_warn(name: str, expected: type) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        submitter = rota.in_transaction(connection(name), tenant="acme", wake=False)

    assert type(submitter) is expected


@pytest.mark.parametrize(("name", "expected"), CONNECTIONS)
def test_within_still_works_and_warns_at_the_caller(name: str, expected: type) -> None:
    conn = connection(name)

    with pytest.warns(DeprecationWarning, match=r"use rota\.in_transaction\(\)") as caught:
        submitter = rota.within(conn, tenant="acme", wake=False)

    assert type(submitter) is expected
    assert vars(submitter) == vars(rota.in_transaction(conn, tenant="acme", wake=False))
    assert caught[0].filename == __file__
