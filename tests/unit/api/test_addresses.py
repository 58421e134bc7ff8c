"""Client addresses: what counts as one, and what proxies may say."""

from ipaddress import ip_network

import pytest

from rota.api.addresses import TrustedProxies, group_address, parse_address


@pytest.mark.parametrize(
    ("host", "group"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::/64"),
        ("not:an:address", "not:an:address"),
        ("", ""),
    ],
)
def test_an_ipv6_network_counts_as_one_client(host: str, group: str) -> None:
    assert group_address(host) == group


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("192.0.2.1:443", "192.0.2.1"),
        ("[2001:db8::1]:443", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("unknown", None),
        ("_hidden", None),
        ("192.0.2.1:443:1", None),
        ("", None),
    ],
)
def test_an_address_is_read_with_and_without_its_port(text: str, address: str | None) -> None:
    found = parse_address(text)

    assert (None if found is None else str(found)) == address


@pytest.mark.parametrize(
    ("entries", "client"),
    [
        (["203.0.113.9"], "203.0.113.9"),
        (["6.6.6.6, 203.0.113.9, 10.0.0.2"], "203.0.113.9"),
        (["6.6.6.6", "203.0.113.9"], "203.0.113.9"),
        (["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        (["203.0.113.9, garbage, 10.0.0.2"], "10.0.0.2"),
        (["203.0.113.9, "], "10.0.0.1"),
        ([], "10.0.0.1"),
    ],
)
def test_the_last_address_that_is_no_proxy_is_the_client(entries: list[str], client: str) -> None:
    proxies = TrustedProxies([ip_network("10.0.0.0/8")])
    headers = [(b"x-forwarded-for", entry.encode()) for entry in entries]

    assert proxies.find_client("10.0.0.1", headers) == client
    assert proxies.find_client("192.0.2.1", headers) == "192.0.2.1"


@pytest.mark.parametrize(
    ("line", "client"),
    [
        ("for=203.0.113.9", "203.0.113.9"),
        ('for=6.6.6.6, For="[2001:db8::7]:80";by=10.0.0.1', "2001:db8::7"),
        ("proto=https;for=203.0.113.9", "203.0.113.9"),
        ("for=203.0.113.9, proto=https", "10.0.0.1"),
        ("for=unknown", "10.0.0.1"),
    ],
)
def test_the_standard_header_is_read_if_it_was_chosen(line: str, client: str) -> None:
    proxies = TrustedProxies([ip_network("10.0.0.0/8")], header="forwarded")
    headers = [(b"x-forwarded-for", b"6.6.6.6"), (b"forwarded", line.encode())]

    assert proxies.find_client("10.0.0.1", headers) == client
