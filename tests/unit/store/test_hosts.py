"""Which hosts a database URL names."""

import pytest

from rota.store.hosts import Host, parse_hosts


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        ("postgresql://rota@db/rota", [("db", None)]),
        ("postgresql://rota:p@db:5433/rota", [("db", 5433)]),
        ("postgresql://rota@a:1,b:2,c/rota?sslmode=disable", [("a", 1), ("b", 2), ("c", None)]),
        ("postgresql://rota@a,b:2/rota?port=7", [("a", 7), ("b", 2)]),
        ("postgresql://[::1]:5433,[2001:db8::2]/rota", [("::1", 5433), ("2001:db8::2", None)]),
        ("postgresql://rota@%2Frun%2Fpg:5433/rota", [("/run/pg", 5433)]),
        ("postgresql://rota@/rota?host=/run/pg&port=5433", [("/run/pg", 5433)]),
        ("postgresql:///rota?host=a,b&port=1,2", [("a", 1), ("b", 2)]),
        ("postgresql:///rota?host=a,b&port=5", [("a", 5), ("b", 5)]),
        ("postgresql:///rota?host=a:1,b:2", [("a", 1), ("b", 2)]),
        ("postgresql://rota@a:1,a:1/rota", [("a", 1)]),
        ("postgresql:///rota", [(None, None)]),
        ("postgresql://rota@/rota?service=mine", [(None, None)]),
    ],
)
def test_hosts_are_read_as_the_driver_reads_them(
    url: str, hosts: list[tuple[str | None, int | None]]
) -> None:
    assert parse_hosts(url) == tuple(Host(*each) for each in hosts)


def test_a_host_is_shown_as_it_is_written() -> None:
    shown = [str(host) for host in parse_hosts("postgresql://a:1,[::1]:2,[::2],b/rota")]

    assert shown == ["a:1", "[::1]:2", "[::2]", "b"]
