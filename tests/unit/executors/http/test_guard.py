"""The guard against requests into the operator's own network (reliability 5.5, S1 of its tests)."""

import ipaddress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.executors.http.ssrf_urls import Verdict, lookup, table

from rota.core.errors import InvalidInput, InvalidSetting
from rota.executors.http.guard import TargetGuard, is_public
from rota.executors.http.guarded_client import GuardedResolver, TargetRefused
from rota.executors.http.target import read_target, resolve_redirect

URLS = list(table())


async def verdict_on(url: str, guard: TargetGuard) -> Verdict:
    try:
        target = read_target(url)
    except InvalidInput:
        return Verdict.UNREADABLE
    if guard.check_target(target) is not None:
        return Verdict.REFUSED
    if target.address is None:
        try:
            await GuardedResolver(guard=guard, lookup=lookup).resolve(target.host)
        except TargetRefused:
            return Verdict.REFUSED
    return Verdict.ALLOWED


def test_the_table_is_large_enough_to_mean_something() -> None:
    assert len(URLS) == len(dict(URLS)) >= 250


@pytest.mark.parametrize(("url", "expected"), URLS, ids=[repr(url)[:60] for url, _ in URLS])
async def test_every_way_in_gets_its_verdict(url: str, expected: Verdict) -> None:
    assert await verdict_on(url, TargetGuard()) is expected


@given(st.integers(0, 2**32 - 1))
def test_what_python_calls_private_is_never_public_v4(number: int) -> None:
    address = ipaddress.IPv4Address(number)

    if is_public(address):
        assert address.is_global
        assert not address.is_multicast


@given(st.integers(0, 2**128 - 1) | st.integers(0x20 << 120, (0x40 << 120) - 1))
def test_what_python_calls_private_is_never_public_v6(number: int) -> None:
    address = ipaddress.IPv6Address(number)

    if is_public(address):
        assert address.is_global
        assert not address.is_multicast
        assert address.sixtofour is None


@given(st.text(st.sampled_from("ahtps:/\\@[]%.#?0x17f-é \t"), max_size=24))
def test_whatever_the_text_it_is_read_or_refused_and_never_both_ways(text: str) -> None:
    url = f"http://{text}"
    try:
        target = read_target(url)
    except InvalidInput:
        return

    assert "@" not in url.removeprefix("http://").split("/")[0].split("?")[0].split("#")[0]
    assert read_target(target.url) == target


@pytest.mark.parametrize(
    ("guard", "url", "expected"),
    [
        (TargetGuard(allow_networks=("10.1.0.0/16",)), "http://10.1.2.3/", Verdict.ALLOWED),
        (TargetGuard(allow_networks=("10.1.0.0/16",)), "http://10.2.2.3/", Verdict.REFUSED),
        (TargetGuard(allow_networks=("10.0.0.0/8",)), "http://ten.example/", Verdict.ALLOWED),
        (TargetGuard(allow_networks=("10.0.0.0/8",)), "http://mapped.example/", Verdict.REFUSED),
        (TargetGuard(allow_networks=("::1/128",)), "http://[0:0::1]/", Verdict.ALLOWED),
        (TargetGuard(allow_hosts=("ten.example",)), "http://ten.example/", Verdict.ALLOWED),
        (TargetGuard(allow_hosts=("ten.example",)), "http://TEN.example./", Verdict.ALLOWED),
        (TargetGuard(allow_hosts=("ten.example",)), "http://10.0.0.7/", Verdict.REFUSED),
        (TargetGuard(allow_hosts=("ten.example",)), "http://cgnat.example/", Verdict.REFUSED),
        (TargetGuard(allow_hosts=(".example",)), "http://ten.example/", Verdict.ALLOWED),
        (TargetGuard(allow_hosts=("n.example",)), "http://ten.example/", Verdict.REFUSED),
        # Trust in a name does not reach the addresses that give out credentials.
        (TargetGuard(allow_hosts=("aws.example",)), "http://aws.example/", Verdict.REFUSED),
        (TargetGuard(allow_hosts=("azure.example",)), "http://azure.example/", Verdict.REFUSED),
        (
            TargetGuard(allow_hosts=(".internal",)),
            "http://metadata.google.internal/",
            Verdict.REFUSED,
        ),
        (TargetGuard(allow_ports=(9000,)), "http://public.example:9000/", Verdict.ALLOWED),
        (TargetGuard(allow_ports=(9000,)), "http://public.example:9001/", Verdict.REFUSED),
        (TargetGuard(allow_ports=(9000,)), "http://127.0.0.1:9000/", Verdict.REFUSED),
        # A denial wins over everything.
        (
            TargetGuard(deny_networks=("93.184.216.0/24",)),
            "http://public.example/",
            Verdict.REFUSED,
        ),
        (
            TargetGuard(deny_networks=("10.0.0.7/32",), allow_hosts=("ten.example",)),
            "http://ten.example/",
            Verdict.REFUSED,
        ),
        (
            TargetGuard(deny_networks=("10.0.0.7/32",), allow_networks=("10.0.0.0/8",)),
            "http://10.0.0.7/",
            Verdict.REFUSED,
        ),
    ],
)
async def test_only_the_operator_makes_exceptions(
    guard: TargetGuard, url: str, expected: Verdict
) -> None:
    assert await verdict_on(url, guard) is expected


@pytest.mark.parametrize(
    ("url", "way"),
    [
        ("http://10.0.0.7/", 'allow_networks = ["10.0.0.7/32"]'),
        ("http://[fd00::7]/", 'allow_networks = ["fd00::7/128"]'),
        ("http://public.example:81/", "allow_ports = [81]"),
        ("http://localhost/", 'allow_hosts = ["localhost"]'),
    ],
)
def test_a_refusal_says_what_the_operator_could_allow(url: str, way: str) -> None:
    refusal = TargetGuard().check_target(read_target(url))

    assert way in str(refusal)


@pytest.mark.parametrize(
    "wrong",
    [
        {"allow_networks": ("10.0.0.1/8",)},
        {"allow_networks": ("ten",)},
        {"deny_networks": ("10.0.0.0/33",)},
        {"allow_hosts": ("Ten.example",)},
        {"allow_hosts": ("*.example",)},
        {"allow_hosts": (".",)},
        {"allow_hosts": ("",)},
        {"allow_ports": (0,)},
        {"allow_ports": (65536,)},
    ],
)
def test_an_exception_that_means_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidSetting):
        TargetGuard(**wrong)


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/b", "https://public.example/b"),
        ("b?x=1", "https://public.example/a/b?x=1"),
        ("//8.8.8.8/c", "https://8.8.8.8/c"),
        ("http://8.8.4.4:8080/", "http://8.8.4.4:8080/"),
        ("#part", "https://public.example/a/"),
    ],
)
def test_a_redirect_is_read_like_any_other_url(location: str, url: str) -> None:
    assert resolve_redirect(read_target("https://public.example/a/"), location).url == url


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "http://2130706433/", "//a@b/", "\\\\x"]
)
def test_a_redirect_may_not_say_what_a_payload_may_not(location: str) -> None:
    with pytest.raises(InvalidInput):
        resolve_redirect(read_target("https://public.example/a/"), location)


async def test_the_second_wall_opens_no_socket_to_an_address_that_was_not_judged() -> None:
    resolver = GuardedResolver(guard=TargetGuard(allow_hosts=("ten.example",)), lookup=lookup)
    info = (2, 1, 6, "", ("10.0.0.7", 80))

    with pytest.raises(PermissionError):
        resolver.open_socket(info)
    await resolver.resolve("ten.example", 80)

    resolver.open_socket(info).close()
