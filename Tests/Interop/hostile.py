"""Requests that two parties could read differently: a few valid ones with many small changes.

Each tries to smuggle a second request past a proxy: `/hidden`, where a strict reader sees content.
"""

from dataclasses import dataclass

HOST = "Host: case.test"
# Every control character except HT, LF and CR, which have separate cases.
CONTROLS = [chr(code) for code in (0, 1, 8, 11, 12, 14, 27, 31, 127)]


@dataclass
class Case:
    """Bytes with `{at}` for the path that selects the sandbox, and how a strict reader interprets them."""

    name: str
    text: str
    target: str | None = None
    body: str = ""

    @property
    def is_sound(self) -> bool:
        return self.target is not None

    def bytes(self, at: str) -> bytes:
        return self.text.replace("{at}", at).encode("latin-1")

    def expected_body(self, at: str) -> str:
        return self.body.replace("{at}", at)


def hidden() -> str:
    return "0\r\n\r\nGET {at}/hidden HTTP/1.1\r\nHost: case.test\r\n\r\n"


def length_of(text: str) -> int:
    # The path that replaces {at} always has ten characters.
    return len(text.replace("{at}", "/~" + "x" * 8))


def request(line: str, fields: list[str], content: str = "") -> str:
    return "\r\n".join([line, *fields, "", content])


def chunk(text: str, extension: str = "") -> str:
    return f"{length_of(text):x}{extension}\r\n{text}\r\n"


POST = "POST {at}/front HTTP/1.1"
LENGTH = f"Content-Length: {length_of(hidden())}"
CODING = "Transfer-Encoding: chunked"
CHUNKS = chunk(hidden()) + "0\r\n\r\n"


def request_lines():
    broken = [
        "GET{at}/front HTTP/1.1", "GET  {at}/front HTTP/1.1", "GET {at}/front  HTTP/1.1", "GET {at}/front HTTP/1.1 ",
        "GET\t{at}/front HTTP/1.1", "GET {at}/front\tHTTP/1.1", " GET {at}/front HTTP/1.1", "GET {at}/front",
        "{at}/front",
        "GET {at}/front HTTP/1.1 HTTP/1.1", "GET {at}/fr ont HTTP/1.1", "GET {at}/front HTTP/2.0",
        "GET {at}/front HTTP/0.9",
        "GET {at}/front HTTP/1.10", "GET {at}/front HTTP/1", "GET {at}/front http/1.1", "GET {at}/front HTTP/01.1",
        "GET {at}/front HTTP/1.1\r", "GET {at}/fr\ront HTTP/1.1", "G(T {at}/front HTTP/1.1", "get {at}/front HTTP/1.1",
        "TRACE {at}/front HTTP/1.1", "CONNECT case.test:80 HTTP/1.1", "CONNECT {at}/front HTTP/1.1", "GET * HTTP/1.1",
        "GET ~x/front HTTP/1.1", "GET case.test:80 HTTP/1.1", "GET {at}/front#a HTTP/1.1",
        "GET {at}/fr\xe4nt HTTP/1.1", "GET ftp://case.test{at}/front HTTP/1.1", "GET http://{at}/front HTTP/1.1",
        "GET http://a@case.test{at}/front HTTP/1.1", "GET http://case.test:x{at}/front HTTP/1.1",
        "GET https://case.test{at}/front HTTP/1.1", "PRI * HTTP/2.0", "PROPFIND {at}/front HTTP/1.1", "HTTP/1.1 200 OK",
    ]
    broken += [f"GET {{at}}/fr{control}ont HTTP/1.1" for control in CONTROLS]
    broken += [f"GET{blank}{{at}}/front HTTP/1.1" for blank in "\x0b\x0c\xa0"]
    for line in broken:
        yield Case(f"line {line!r}", request(line, [HOST]))
    for target in ("/front", "/front[1]^", "/front?a=[]|\"<>`{}", "/front//a", "/front%2Fa", "/front%20a", "/front%00a",
        "/front;a=b?c?d"):
        yield Case(f"target {target}", request(f"GET {{at}}{target} HTTP/1.1", [HOST]), target)
    yield Case("absolute", request("GET http://other.test{at}/front HTTP/1.1", [HOST]), "/front")
    yield Case("version 1.0", request("GET {at}/front HTTP/1.0", []), "/front")
    yield Case("one empty line", "\r\n" + request("GET {at}/front HTTP/1.1", [HOST]), "/front")


def hosts():
    for fields in (
        [], ["Host:"], [HOST, HOST], [HOST, "Host: other.test"], ["Host : case.test"], ["Host: case.test, other.test"],
        ["Host: a b"], ["Host: a@case.test"], ["Host: case.test/x"], ["Host: case.test:x"], ["Host: case.test:99999"],
        ["Host: case.test:80:80"], ["Host: [::1"], ["Host: [x]"], ["Host: http://case.test"], ["Host: case.test#"],
        ["Host: case.test?x"], ["Host: case%2etest"], ["Host: c\xe4se.test"], ["Host: case.test\\x"], [" " + HOST,
        HOST],
        ["Host:\r\n case.test"], ["Host: case.test\r\n .other"], [HOST + "\0"], ["Host: [1::2::3]"],
    ):
        yield Case(f"host {fields}", request("GET {at}/front HTTP/1.1", fields))
    for host in ("case.test:80", "[::1]:80", "127.0.0.1", "CASE.test."):
        yield Case(f"host {host}", request("GET {at}/front HTTP/1.1", [f"Host: {host}"]), "/front")


def fields():
    broken = [
        "X", "X y", ": y", "X : y", "X\t: y", " X: y", "X: y\r\n z", "X: y\r\n\tz", "X: y\rz", "X: y\nZ: z",
        "X: y\r\rZ: z",
        "X(: y", "X y: z", "\"X\": y", "X\xe4: y", "X: y\r\n ", "X: y\n z", "X: y\r\nZ", "GET {at}/hidden HTTP/1.1",
        "X: y\rContent-Length: 0", "X: y\nContent-Length: 0", "X: y\n Content-Length: 0", "X: y\r Content-Length: 0",
    ] + [f"X: y{control}z" for control in CONTROLS] + [f"X{control}: y" for control in CONTROLS]
    for field in broken:
        yield Case(f"field {field!r} before a length", request(POST, [HOST, field, LENGTH], hidden()))
        yield Case(f"field {field!r} behind a coding", request(POST, [HOST, CODING, field], CHUNKS))
    for ending in ("\n\r\n", "\r\n\n", "\n\n", "\r\r\n", "\r\n\r\r\n"):
        yield Case(f"head ends in {ending!r}", POST + "\r\n" + HOST + "\r\n" + LENGTH + ending + hidden())
    for field in ("X:y", "X:", "X:  y  ", "X: \xe4", "X: a\tb", "X_Y: z", "Content_Length: 0",
        "Transfer_Encoding: chunked", "TE: chunked"):
        yield Case(f"field {field!r}", request(POST, [HOST, field, LENGTH], hidden()), "/front", hidden())


def lengths():
    right = length_of(hidden())
    values = [
        f"+{right}", f"-{right}", "-1", f"0x{right:x}", f"{right}x", f"{right} 0", f"{right}, {right}", f"{right}, 0",
        f"0, {right}",
        f"{right}.0", f"{right}e0", "", "x", f"\"{right}\"", f"{right};", "99999999999999999999",
        "18446744073709551616",
        f"{right}\x0b", f"\x0b{right}", f"{right}\0", f"{right}\r\n 0", f"\r\n {right}", f"{right}\xa0", "\xb9",
        f"{right}_0",
    ]
    for value in values:
        yield Case(f"length {value!r}", request(POST, [HOST, f"Content-Length: {value}"], hidden()))
        if value:
            yield Case(f"length {value!r} in 1.0", request(POST[:-1] + "0", [HOST, f"Content-Length: {value}"],
                hidden()))
    for other in (LENGTH, "Content-Length: 0", "content-length: 5", "Content-Length:", "Content-Length : 0",
        "Content-Length\t: 0"):
        yield Case(f"lengths, then {other!r}", request(POST, [HOST, LENGTH, other], hidden()))
        yield Case(f"lengths, first {other!r}", request(POST, [HOST, other, LENGTH], hidden()))
    for method in ("GET", "DELETE", "OPTIONS", "PUT", "PATCH"):
        line = f"{method} {{at}}/front HTTP/1.1"
        bare = "GET {at}/hidden HTTP/1.1\r\nHost: case.test\r\n\r\n"
        yield Case(f"bare with {method}", request(line, [HOST, f"Content-Length: {length_of(bare)}"], bare), "/front",
            bare)
        yield Case(f"length with {method}", request(line, [HOST, LENGTH], hidden()), "/front", hidden())
        yield Case(f"chunks with {method}", request(line, [HOST, CODING], CHUNKS), "/front", hidden())
    yield Case("length with zeros", request(POST, [HOST, f"Content-Length: 000{right}"], hidden()), "/front", hidden())
    yield Case("length too long", request(POST, [HOST, "Content-Length: 500"], hidden()))


def codings():
    for coding in (
        "", "identity", "gzip", "xchunked", "chunkedx", "chunked, chunked", "chunked, identity", "identity, chunked",
        "gzip, chunked", ", chunked", "chunked,", "chunked;a=b", "\"chunked\"", "'chunked'", "\x0bchunked",
        "chunked\x0b", "\x0cchunked",
        "chunked\0", "\0chunked", "chunked\xa0", "chunked x", "x chunked", "\r\n chunked", "chunked\r\n x",
        "chun\rked", "\nchunked",
        "chunked\r\nTransfer-Encoding: chunked", "chunked\r\nTransfer-Encoding: identity",
        "identity\r\nTransfer-Encoding: chunked",
        "chunked\r\nTransfer-encoding:", "c", "\x85chunked",
    ):
        field = f"Transfer-Encoding: {coding}"
        yield Case(f"coding {coding!r}", request(POST, [HOST, field], CHUNKS))
        yield Case(f"coding {coding!r} and length", request(POST, [HOST, field, LENGTH], hidden()))
    for name in ("Transfer-Encoding ", "Transfer-Encoding\t", " Transfer-Encoding", "Transfer-Encoding\0",
        "Transfer\x0b-Encoding"):
        yield Case(f"coding named {name!r}", request(POST, [HOST, f"{name}: chunked", LENGTH], hidden()))
        yield Case(f"coding named {name!r} behind", request(POST, [HOST, LENGTH, f"{name}: chunked"], hidden()))
    for order in ([LENGTH, CODING], [CODING, LENGTH], [CODING, "Content-Length: 0"], ["Content-Length: 5", CODING]):
        yield Case(f"length and coding {order}", request(POST, [HOST, *order], CHUNKS))
    for connection in ("close", "keep-alive"):
        fields = [HOST, f"Connection: {connection}", CODING]
        yield Case(f"coding in 1.0, {connection}", request(POST[:-1] + "0", fields, CHUNKS))
    for coding in ("Chunked", "CHUNKED", " chunked "):
        yield Case(f"coding {coding!r}", request(POST, [HOST, f"Transfer-Encoding: {coding}"], CHUNKS), "/front",
            hidden())


def chunks():
    text = hidden()
    size = f"{length_of(text):x}"
    broken = [
        f"0x{size}\r\n{text}\r\n0\r\n\r\n", f"+{size}\r\n{text}\r\n0\r\n\r\n", f"-{size}\r\n{text}\r\n0\r\n\r\n",
        f" {size}\r\n{text}\r\n0\r\n\r\n", f"{size} \r\n{text}\r\n0\r\n\r\n", f"{size}\t\r\n{text}\r\n0\r\n\r\n",
        f"{size}\n{text}\r\n0\r\n\r\n", f"{size}\r{text}\r\n0\r\n\r\n", f"{size}\r\r\n{text}\r\n0\r\n\r\n",
        f"{size}\0\r\n{text}\r\n0\r\n\r\n", f"{size}x\r\n{text}\r\n0\r\n\r\n", f"{size},0\r\n{text}\r\n0\r\n\r\n",
        f"1{'0' * 14}{size}\r\n{text}\r\n0\r\n\r\n", f"1{'0' * 30}{size}\r\n{text}\r\n0\r\n\r\n",
        f"ffffffffffffffff\r\n{text}\r\n0\r\n\r\n",
        f"{'0' * 30}{size}\r\n{text}\r\n0\r\n\r\n", "\r\n" + CHUNKS, f"{size}\r\n{text}\n0\r\n\r\n",
        f"{size}\r\n{text}0\r\n\r\n",
        f"{size}\r\n{text}\r\r\n0\r\n\r\n", f"{size}\r\n{text} \r\n0\r\n\r\n", f"{size}\r\n{text}xx0\r\n\r\n",
        f"{size}\r\n{text}\r\n0\n\n",
        f"{size}\r\n{text}\r\n0\r\n\n", f"{size}\r\n{text}\r\n0\n\r\n", f"{size}\r\n{text}\r\n0\r\r\n\r\n",
        f"{size}\r\n{text}\r\n",
        f"{size}\r\n{text}", f"{size}\r\n", "x", "0\r\n", "1\r\nab\r\n" + text, "5\r\nab\r\n" + text,
    ]
    for content in broken:
        yield Case(f"chunks {content!r}", request(POST, [HOST, CODING], content))
    for extension in (
        ";", ";=", ";=a", ";a=", ";a=\"", ";a=\"b", ";\0", ";a\0", ";a\rb", ";a\nb", ";\n", ";\r", ";a=\"\n\"",
        ";a=\"\r\"", " a", ";a b",
        ";a\x0b", ";\xe4", ";a=\"\0\"", ";;", "\n;a", ";a\r", ";a=b\n",
    ):
        yield Case(f"extension {extension!r}", request(POST, [HOST, CODING], chunk(text, extension) + "0\r\n\r\n"))
        yield Case(f"last extension {extension!r}", request(POST, [HOST, CODING],
            chunk(text) + f"0{extension}\r\n\r\n"))
    for trailer in ("X", " X: y", "X : y", "X: y\r\n z", "X: \0", ": y", "X: y\nZ: z", "X: y\rZ: z",
        "GET {at}/hidden HTTP/1.1"):
        yield Case(f"trailer {trailer!r}", request(POST, [HOST, CODING], chunk(text) + f"0\r\n{trailer}\r\n\r\n"))
    for extension in (";a", ";a=b", ";a=\"b;c\"", " ; a = b", ";a;b;c=d"):
        content = chunk(text, extension) + "0\r\n\r\n"
        yield Case(f"extension {extension!r}", request(POST, [HOST, CODING], content), "/front", text)
    for trailer in ("X: y", "Content-Length: 9", "Transfer-Encoding: chunked", "Host: other.test", "Connection: close"):
        content = chunk(text) + f"0\r\n{trailer}\r\n\r\n"
        yield Case(f"trailer {trailer!r}", request(POST, [HOST, CODING], content), "/front", text)
    halves = chunk(text[:7]) + chunk(text[7:]) + "000\r\n\r\n"
    yield Case("two chunks", request(POST, [HOST, CODING], halves), "/front", text)


def connections():
    for field in (
        "Connection: Content-Length", "Connection: Transfer-Encoding", "Connection: Host",
        "Connection: close, Content-Length",
        "Connection: keep-alive, x", "Connection: ,",
        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA",
        "Keep-Alive: timeout=1", "Proxy-Connection: close", "Expect: 100-continue", "Trailer: Content-Length",
        "Close: close",
        "X-HTTP-Method-Override: DELETE", "X-Forwarded-Host: other.test", "X-Rewrite-URL: {at}/hidden",
        "TE: trailers\r\nConnection: TE",
    ):
        yield Case(f"{field!r} and length", request(POST, [HOST, field, LENGTH], hidden()), "/front", hidden())
        yield Case(f"{field!r} and chunks", request(POST, [HOST, field, CODING], CHUNKS), "/front", hidden())
    for value in ("x", "y 100-continue", "100-continue, x", "100-continue\r\n x", "\x0b100-continue"):
        yield Case(f"expectation {value!r}", request(POST, [HOST, f"Expect: {value}", LENGTH], hidden()))


CASES = [case for make in (request_lines, hosts, fields, lengths, codings, chunks, connections) for case in make()]
