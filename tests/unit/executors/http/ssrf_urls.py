"""Ways to reach what must not be reached: URLs with the right verdict on each.

UNREADABLE is refused before anybody looks at the network, REFUSED by the guard, ALLOWED by nobody
but a guard without exceptions that finds a public address.
"""

from collections.abc import Iterator
from enum import Enum, auto


class Verdict(Enum):
    UNREADABLE = auto()
    REFUSED = auto()
    ALLOWED = auto()


# Each address in its usual form is refused by the guard.
PRIVATE_V4 = (
    *("0.0.0.0", "0.0.0.1", "0.255.255.255", "10.0.0.1", "10.255.255.255", "100.64.0.1"),
    *("100.100.100.200", "100.127.255.255", "127.0.0.1", "127.0.0.53", "127.1.2.3"),
    *("127.255.255.255", "168.63.129.16", "169.254.0.1", "169.254.169.254", "169.254.170.2"),
    *("169.254.169.123", "169.254.255.255", "172.16.0.1", "172.17.0.1", "172.31.255.255"),
    *("192.0.0.1", "192.0.0.8", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1"),
    *("192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9"),
    *("224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.254", "255.255.255.255"),
)
PRIVATE_V6 = (
    *("::", "::1", "0:0:0:0:0:0:0:1", "0000::0001", "::0:1", "::127.0.0.1", "::7f00:1"),
    *("::ffff:127.0.0.1", "::ffff:7f00:1", "::FFFF:10.0.0.1", "::ffff:169.254.169.254"),
    *("::ffff:a9fe:a9fe", "::ffff:8.8.8.8", "0:0:0:0:0:ffff:127.0.0.1", "::ffff:0:127.0.0.1"),
    *("64:ff9b::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::169.254.169.254", "64:ff9b::8.8.8.8"),
    *("64:ff9b:1::1", "64:ff9b:1:ffff::a00:1", "100::1", "2001::1", "2001:0:4136:e378::1"),
    *("2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::", "2002:a00:1::1"),
    *("2002:a9fe:a9fe::1", "2002:808:808::1", "3fff::1", "3fff:fff::1", "5f00::1", "fc00::1"),
    *("fd00::1", "fd00:ec2::254", "fd20:ce::254", "fdff:ffff::1", "fe80::1", "febf::1"),
    *("fec0::1", "feff::1", "ff02::1", "ff0e::1", "4000::1", "8000::1", "1fff::1"),
)
# The same machines, written in ways that only some readers understand.
NUMBERS = (
    *("2130706433", "0x7f000001", "0X7F000001", "017700000001", "0177.0.0.1", "0x7f.0.0.1"),
    *("0x7f.0x0.0x0.0x1", "127.1", "127.0.1", "127.0.0.01", "127.000.000.001", "0177.1"),
    *("00000177.0.0.1", "127.0.0.1.", "0", "0.", "0x0", "00", "1", "256", "4294967295"),
    *("4294967296", "340282366920938463463374607431768211455", "2852039166", "0xa9fea9fe"),
    *("0xA9.0xFE.0xA9.0xFE", "0251.0376.0251.0376", "169.254.43518", "169.16689662"),
    *("0251.254.169.254", "10.1", "012.1", "0xa.1", "167772161", "3232235777", "192.168.257"),
    *("0xc0a80101", "127.0.0.0x1", "127.0.0.256", "1.2.3.4.5", "1.2.3", "999.999.999.999"),
    *("0x", "0x.0x.0x.0x", "foo.0x7f", "example.1", "example.0x1", "-1", "127.0.0.1%00"),
)
DISGUISED = (
    *("①②⑦.⓪.⓪.①", "１２７.0.0.1", "127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ"),
    *("lоcalhost", "localhost\u200b", "local\u00adhost", "%6cocalhost", "%31%32%37.0.0.1"),
    *("localhost%00.example.org", "127.0.0.1%2f.example.org", "exa mple.org", "ex\tample.org"),
    *("example.org\\@127.0.0.1", "127.0.0.1\\.example.org", "[::1", "::1]", "[::1]x", "[]"),
    *("[127.0.0.1]", "[::ffff:127.0.0.1%25lo]", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1%lo]"),
    *("[v1.127.0.0.1]", "[:::1]", "[::1::]", "[0x7f::1]", "[::127.1]", "[::ffff:0177.0.0.1]"),
    *("", ".", "..", ".localhost", "a..b", "-a.example", "a-.example", "*.example", "a,b.example"),
    *("a;b.example", "a=b.example", "a&b.example", "a$b.example", "a!b.example", "(example)"),
)
WHOLE = (
    *("http://user@127.0.0.1/", "http://user:pass@example.org/", "http://@127.0.0.1/"),
    *("http://example.org@127.0.0.1/", "http://127.0.0.1:80@example.org/", "http://:@example.org"),
    *("http://example.org:80:80/", "http://127.0.0.1:80:443/", "http://example.org:/"),
    *("http://example.org:0/", "http://example.org:65536/", "http://example.org:99999/"),
    *("http://example.org:-1/", "http://example.org:+80/", "http://example.org:8 0/"),
    *("http://example.org:80a/", "http://example.org:①/", "http:/127.0.0.1/", "http:127.0.0.1"),
    *("http:///127.0.0.1/", "http:\\\\127.0.0.1\\", "http://\\127.0.0.1/", "///127.0.0.1/"),
    *("//127.0.0.1/", "127.0.0.1", "localhost:80", "/etc/passwd", "?x", "#x", "", " "),
    *(" http://127.0.0.1/", "http://127.0.0.1/ ", "\thttp://127.0.0.1/", "http://127.0.0.1/\n"),
    *("http://exam\nple.org/", "http://example.org/\r\nX: y", "http://example.org/a b"),
    *("http://example.org/\x00", "http://example.org/ü", "http://example.org/\\..\\x"),
    *("http://127.0.0.1#@example.org/", "http://example.org/<script>", "http://example.org/{x}"),
    *("file:///etc/passwd", "file://localhost/etc/passwd", "FILE:///etc/passwd"),
    *("gopher://127.0.0.1:6379/_INFO", "dict://127.0.0.1:11211/stat", "ftp://127.0.0.1/"),
    *("ldap://127.0.0.1/", "tftp://127.0.0.1/", "ws://127.0.0.1/", "wss://127.0.0.1/"),
    *("jar:http://127.0.0.1!/", "data:text/plain,x", "javascript:alert(1)", "netdoc:///x"),
    *("unix:///var/run/docker.sock", "http+unix://%2Fvar%2Frun%2Fdocker.sock/", "tcp://127.0.0.1"),
    *("mailto:root@localhost", "view-source:http://127.0.0.1/", "http2://127.0.0.1/"),
    *("url:http://127.0.0.1/", "0://127.0.0.1", "http://" + "a" * 64 + ".example/"),
    *("http://" + "a." * 130 + "example/", "http://example.org/" + "x" * 2048),
)
# `http://127.0.0.1#@…` is the one of these that can be read, and it means what the guard refuses.
READABLE = frozenset({"http://127.0.0.1#@example.org/"})

# Names, with what the DNS says about them.
NAMES: dict[str, tuple[str, ...]] = {
    "public.example": ("93.184.216.34",),
    "public6.example": ("2606:2800:220:1:248:1893:25c8:1946",),
    "both.example": ("93.184.216.34", "2606:2800:220:1::1"),
    "127.0.0.1.nip.io": ("127.0.0.1",),
    "7f000001.nip.io": ("127.0.0.1",),
    "localtest.me": ("127.0.0.1", "::1"),
    "spoofed.burpcollaborator.net": ("127.0.0.1",),
    "ten.example": ("10.0.0.7",),
    "cgnat.example": ("100.64.0.7",),
    "aws.example": ("169.254.169.254",),
    "aws6.example": ("fd00:ec2::254",),
    "alibaba.example": ("100.100.100.200",),
    "azure.example": ("168.63.129.16",),
    "oracle.example": ("192.0.0.192",),
    "google6.example": ("fd20:ce::254",),
    "mapped.example": ("::ffff:10.0.0.1",),
    "nat64.example": ("64:ff9b::a00:1",),
    "sixtofour.example": ("2002:a00:1::1",),
    "linklocal.example": ("fe80::1%eth0",),
    "zero.example": ("0.0.0.0",),
    "zero6.example": ("::",),
    # One bad address among good ones spoils the name, wherever it stands.
    "last.example": ("93.184.216.34", "93.184.216.35", "10.0.0.1"),
    "first.example": ("127.0.0.1", "93.184.216.34"),
    "mixed.example": ("93.184.216.34", "::1"),
}
PUBLIC_NAMES = frozenset({"public.example", "public6.example", "both.example"})
LOCAL_NAMES = (
    *("localhost", "LOCALHOST", "localhost.", "a.localhost", "LocalHost.", "x.y.localhost"),
    *("metadata.google.internal", "METADATA.google.INTERNAL", "metadata.google.internal."),
    *("metadata.goog", "instance-data"),
)
PUBLIC = (
    *("http://93.184.216.34/", "https://8.8.8.8/", "http://1.1.1.1:8080/", "http://9.255.255.255/"),
    *("http://11.0.0.1/", "http://100.63.255.255/", "http://100.128.0.1/", "http://126.1.1.1/"),
    *("http://128.0.0.1/", "http://169.253.1.1/", "http://172.15.255.255/", "http://172.32.0.1/"),
    *("http://192.167.1.1/", "http://192.169.1.1/", "http://223.255.255.254/"),
    *("https://[2606:4700:4700::1111]/", "https://[2a00:1450:4001:800::200e]:8443/x?y=1#z"),
    *("HTTPS://PUBLIC.example/", "http://public.example./", "https://public.example:443/a%20b"),
)
PORTS = (
    *("http://public.example:22/", "http://public.example:25/", "http://public.example:81/"),
    *("http://public.example:5432/", "http://public.example:6379/", "https://8.8.8.8:65535/"),
)


def table() -> Iterator[tuple[str, Verdict]]:
    """Every URL with its verdict, under a guard that has no exceptions."""
    for address in PRIVATE_V4:
        yield f"http://{address}/", Verdict.REFUSED
    for address in PRIVATE_V6:
        yield f"http://[{address}]/", Verdict.REFUSED
    for host in (*NUMBERS, *DISGUISED):
        yield f"http://{host}/", Verdict.UNREADABLE
    for url in WHOLE:
        yield url, Verdict.REFUSED if url in READABLE else Verdict.UNREADABLE
    for name in NAMES:
        yield f"https://{name}/x", Verdict.ALLOWED if name in PUBLIC_NAMES else Verdict.REFUSED
    for name in LOCAL_NAMES:
        yield f"http://{name}/", Verdict.REFUSED
    for url in PUBLIC:
        yield url, Verdict.ALLOWED
    for url in PORTS:
        yield url, Verdict.REFUSED


async def lookup(host: str) -> tuple[str, ...]:
    """The DNS of these tests."""
    name = host.lower().removesuffix(".")
    try:
        return NAMES[name]
    except KeyError:
        raise OSError(f"no such name: {name}") from None
