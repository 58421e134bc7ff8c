"""Which hosts a database URL names, and in which order they are tried."""

import threading

import pytest

from rota.store.hosts import Host, HostList, parse_hosts


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


def test_old_news_of_a_failure_expires_nothing() -> None:
    host, other = Host("one", 1), Host("two", 2)
    hosts = HostList([host, other])

    hosts.record_failure(host, seen=0)
    hosts.prefer(host)
    hosts.record_failure(host, seen=0)

    assert hosts.failure_count(host) == 1
    assert list(hosts) == [host, other]


def test_threads_never_lose_a_host() -> None:
    made = [Host("db", port) for port in range(1, 6)]
    hosts = HostList(made)

    def shuffle(host: Host) -> None:
        for _ in range(2_000):
            hosts.prefer(host)
            hosts.demote(host)
            hosts.record_failure(host, seen=hosts.failure_count(host))

    threads = [threading.Thread(target=shuffle, args=(host,)) for host in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(hosts) == made
    assert [hosts.failure_count(host) for host in made] == [2_000] * 5
