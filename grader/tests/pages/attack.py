#!/usr/bin/env python3
"""make check-pages: attacks `grader serve` over plain sockets, as a page of a foreign site, another user of the machine or a faulty
client would, and prints what each attempt got (docs/serve.md, "Attacks").

    attack.py GRADER [--requests N]      N: requests of the flood, 10000 by default"""
import argparse, contextlib, ctypes, hashlib, http.client, json, os, pathlib, re, socket, subprocess, sys, tempfile, threading, time

ID = "02-coalescing/transpose"
MIB = 1 << 20
rows, faults = [], []


class Target:
    """A server with a workspace of its own."""

    def __init__(self, grader, top):
        self.environment = {**os.environ, "XDG_STATE_HOME": top + "/state"}
        subprocess.run([grader, "begin", top + "/work"], check=True, env=self.environment, stdout=subprocess.DEVNULL)
        self.start(grader, top)

    def start(self, grader, top, *arguments):
        self.top = pathlib.Path(top)
        self.process = subprocess.Popen([grader, "serve", *arguments], cwd=top + "/work", env=self.environment, stdout=subprocess.PIPE, text=True)
        url = next(m for line in self.process.stdout if (m := re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\w+)", line)))
        self.port, self.token = int(url[1]), url[2]
        self.cookie = f"warpbook_{self.port}={self.token}"
        self.host = f"127.0.0.1:{self.port}"

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def ask(self, method, path, body=None, cookie=True, **headers):
        c = self.connection()
        c.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        headers = {"Host": self.host, **({"Cookie": self.cookie} if cookie else {}), **{k.replace("_", "-"): v for k, v in headers.items()}}
        if body is not None:
            headers.setdefault("Content-Length", str(len(body)))
        for name, value in headers.items():
            if value is not None:
                c.putheader(name, value)
        c.endheaders()
        try:
            c.send(body or b"")
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server refuses a body that is too large, and closes, before it has read all
        answer = c.getresponse()
        text = answer.read()
        c.close()
        return answer.status, text, answer.headers

    def raw(self, data, seconds=15):
        """Sends bytes; returns the answer up to the end of the connection, and how long it took."""
        begin = time.monotonic()
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as s:
            answer = b""
            try:
                s.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass
            try:
                while chunk := s.recv(65536):
                    answer += chunk
            except (TimeoutError, ConnectionError):
                pass
        return answer, time.monotonic() - begin

    def play(self, name, text):
        """Runs a program of the playground; returns what the page gets."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=120) as s:
            s.sendall(f"GET /api/events HTTP/1.1\r\nHost: {self.host}\r\nCookie: {self.cookie}\r\n\r\n".encode())
            self.ask("PUT", f"/api/play?name={name}", text.encode(), If_Match="new")
            self.ask("POST", f"/api/play?name={name}", b"")
            lines = s.makefile(encoding="utf-8", errors="replace")
            for line in lines:
                if line.startswith("event: played"):
                    return json.loads(next(lines)[6:])

    def source(self):
        return (self.top / "work/chapters" / (ID + ".cu")).read_text()

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def memory(self):
        return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text())[1]) * 1024


def attempt(kind, what, got, is_held):
    rows.append((kind, what, got))
    print(f"  {'held' if is_held else 'BROKEN':6}  {kind:14}  {what}: {got}")
    if not is_held:
        faults.append(what)


def refused(kind, what, status, expected=(403,)):
    attempt(kind, what, f"status {status}", status in expected)


def forge(t):
    """A foreign page in the user's browser: it can send requests, but not set their Origin."""
    before, put = t.source(), f"/api/source?id={ID}"
    for what, origin in (("a foreign origin, with the cookie", "https://evil.example"), ("the origin `null` (a sandboxed frame)", "null"),
                         ("another port of this machine", "http://127.0.0.1:1")):
        refused("CSRF", f"PUT of the code from {what}", t.ask("PUT", put, b"stolen", Origin=origin, If_Match="x")[0])
    refused("CSRF", "POST of a grading without the cookie", t.ask("POST", f"/api/grade?id={ID}", b"", cookie=False)[0])
    refused("CSRF", "PUT with a wrong token", t.ask("PUT", put, b"stolen", cookie=False, Cookie=t.cookie[:-1] + "x")[0])
    status, _, headers = t.ask("GET", f"/?token={t.token}", cookie=False)
    cookie = headers.get("Set-Cookie") or ""
    attempt("CSRF", "what the sign-in's cookie allows", cookie.split(";", 1)[1].strip(), "SameSite=Strict" in cookie and "HttpOnly" in cookie)
    policy = t.ask("GET", "/")[2].get("Content-Security-Policy") or ""
    attempt("framing", "the page in a foreign frame", "frame-ancestors 'none'", "frame-ancestors 'none'" in policy and "unsafe" not in policy)
    attempt("CSRF", "the code after all of these", "unchanged" if t.source() == before else "changed", t.source() == before)


def rebind(t):
    """A name of the attacker that resolves to 127.0.0.1: the browser sends that name as Host, and as its own site's Origin."""
    for host in (f"evil.example:{t.port}", f"127.0.0.1.evil.example:{t.port}", "127.0.0.1:1", f"localhost.evil.example:{t.port}", f"[::1]evil:{t.port}"):
        refused("DNS rebinding", f"Host {host.replace(str(t.port), 'PORT')}", t.ask("GET", "/api/contents", Host=host, Origin=f"http://{host}")[0], (403, 400))
    answer, _ = t.raw(f"GET /api/contents HTTP/1.1\r\nCookie: {t.cookie}\r\nConnection: close\r\n\r\n".encode())
    attempt("DNS rebinding", "no Host header", answer.split(b"\r\n")[0].decode(), b" 403 " in answer[:20] or b" 400 " in answer[:20])


def traverse(t):
    """Paths out of the served folders, plain and encoded, and links that the workspace contains."""
    secret = t.top / "secret.svg"
    secret.write_text("SECRET")
    (t.top / "work/chapters/link.svg").symlink_to(secret)
    (t.top / "work/playground").mkdir()
    (t.top / "work/playground/link.cu").symlink_to(secret)
    for path in ("/../secret.svg", "/chapters/../../secret.svg", "/%2e%2e/secret.svg", "/chapters/..%2f..%2fsecret.svg", "/codemirror/../../../etc/passwd",
                 "/codemirror/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/chapters/link.svg", "/chapters/%5c..%5csecret.svg"):
        status, text, _ = t.ask("GET", path)
        attempt("traversal", f"GET {path}", f"status {status}", status in (400, 403, 404) and b"SECRET" not in text and b"root:" not in text)
    attempt("traversal", "GET /secret.svg%00.js", f"status {(status := t.ask('GET', '/secret.svg%00.js')[0])}", status == 404)
    for name in ("../chapters/x.cu", "link.cu", "..%2fx.cu", "a%00.cu", ".hidden.cu", "x.sh", "%3Cimg%20src=x%3E.cu", "-o.cu", "a" * 300 + ".cu"):
        status, text, _ = t.ask("GET", f"/api/play?name={name}")
        attempt("file name", f"GET of the program {name[:30]}", f"status {status}", status == 422 and b"SECRET" not in text)
        if name != "link.cu":
            status = t.ask("PUT", f"/api/play?name={name}", b"x", If_Match="new")[0]
            attempt("file name", f"PUT of the program {name[:30]}", f"status {status}", status == 422)
    status = t.ask("PUT", "/api/play?name=link.cu", b"x", If_Match="new")[0]
    attempt("traversal", "PUT over a link in the playground", f"status {status}", status == 422 and secret.read_text() == "SECRET")
    for digest in ("../../../../etc/passwd", "%2e%2e", "a" * 64):
        refused("traversal", f"the version {digest[:25]}", t.ask("GET", f"/api/version?id={ID}&digest={digest}")[0], (404,))
    (t.top / "work/chapters/link.svg").unlink()


def oversize(t):
    """Bodies and headers beyond the limits."""
    put = f"/api/source?id={ID}"
    refused("size", "a body of 1 MiB and 1 byte", t.ask("PUT", put, b"x" * (MIB + 1), If_Match="x")[0], (413,))
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    head = f"PUT {put} HTTP/1.1\r\nHost: {t.host}\r\nCookie: {t.cookie}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    answer, _ = t.raw(head + chunk * 20 + b"0\r\n\r\n")
    attempt("size", "a chunked body of 1.25 MiB, no length", answer.split(b"\r\n")[0].decode() or "closed", b" 413 " in answer[:20])
    answer, _ = t.raw(f"PUT {put} HTTP/1.1\r\nHost: {t.host}\r\nCookie: {t.cookie}\r\nContent-Length: 99999999999999999999\r\n\r\n".encode())
    attempt("size", "Content-Length 99999999999999999999", answer.split(b"\r\n")[0].decode() or "closed", not answer or b" 4" in answer[:14])
    answer, _ = t.raw(f"GET / HTTP/1.1\r\nHost: {t.host}\r\nX: {'x' * MIB}\r\n\r\n".encode())
    attempt("size", "a header of 1 MiB", answer.split(b"\r\n")[0].decode() or "closed", not answer or b" 4" in answer[:14])
    answer, _ = t.raw(f"GET /{'x' * MIB} HTTP/1.1\r\nHost: {t.host}\r\n\r\n".encode())
    attempt("size", "an address of 1 MiB", answer.split(b"\r\n")[0].decode() or "closed", not answer or b" 4" in answer[:14])
    answer, _ = t.raw(f"POST /api/quiz?id={ID}&question=1 HTTP/1.1\r\nHost: {t.host}\r\nCookie: {t.cookie}\r\nContent-Length: 5\r\nConnection: close\r\n\r\n1\n2\n3".encode())
    attempt("size", "an answer of three lines", answer.split(b"\r\n")[0].decode(), b" 422 " in answer[:20])


def slow(t):
    """A request that arrives byte by byte, and connections that send nothing."""
    begin = time.monotonic()
    sockets = [socket.create_connection(("127.0.0.1", t.port), timeout=30) for _ in range(40)]
    drip = socket.create_connection(("127.0.0.1", t.port), timeout=1)
    served = 0
    try:
        for byte in (f"GET / HTTP/1.1\r\nHost: {t.host}\r\nX: " + "y" * 100).encode():
            drip.send(bytes([byte]))
            time.sleep(0.25)
            served += t.ask("GET", "/api/contents")[0] == 200
            if time.monotonic() - begin > 20:
                break
    except OSError:
        pass
    lasted = time.monotonic() - begin
    attempt("slow", "one byte each 0.25 s, beside 40 silent connections", f"closed after {lasted:.0f} s, {served} other requests answered", lasted < 14 and served > 10)
    time.sleep(1)
    closed = 0
    for s in sockets:
        s.settimeout(1)
        try:
            closed += s.recv(1) == b""
        except OSError:
            pass
        s.close()
    attempt("slow", "40 connections that send nothing", f"{closed} closed after {time.monotonic() - begin:.0f} s", closed == 40)


def flood(t, n):
    """Many requests, accepted and refused; the server must keep its memory and descriptors."""
    memory, files, begin, good = t.memory(), t.open_files(), time.monotonic(), 0
    c = t.connection()
    for i in range(n):
        if i % 4 == 3:  # a connection of its own, without a cookie
            good += t.ask("GET", "/api/contents", cookie=False)[0] == 403
            continue
        c.request("GET", "/style.css" if i % 4 else f"/api/history?id={ID}", headers={"Cookie": t.cookie})
        answer = c.getresponse()
        answer.read()
        good += answer.status == 200
    c.close()
    seconds, grown = time.monotonic() - begin, t.memory() - memory
    attempt("flood", f"{n} requests", f"{good} answered as expected in {seconds:.1f} s, {grown / MIB:+.1f} MiB, {t.open_files() - files:+} descriptors",
            good == n and grown < 16 * MIB and t.open_files() - files < 4)
    # The first one never ends by itself, so that the queue fills however fast the machine is.
    t.ask("PUT", "/api/play?name=spin.cu", b"int main() { for (;;) ; }", If_Match="new")
    t.ask("POST", "/api/play?name=spin.cu", b"")
    queued = [t.ask("POST", f"/api/play?name=p{i}.cu", b"")[0] for i in range(200)]
    attempt("flood", "200 jobs at once", f"{queued.count(202)} queued, {queued.count(503)} refused", queued.count(503) > 0 and set(queued) == {202, 503})


def garble(t):
    """Requests that are not HTTP, and wrong parameters."""
    for data in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), b"GET\r\n\r\n", b"\r\n" * 1000 + b"\x00" * 1000, b"GET / HTTP/9.9\r\nHost: x\r\n\r\n"):
        answer, _ = t.raw(data)
        attempt("garbage", repr(data[:20]), answer.split(b"\r\n")[0].decode(errors="replace")[:40] or "closed", b" 200 " not in answer[:20])
    for method, path in (("GET", "/api/exercise?id=../../etc"), ("PUT", "/api/source"), ("DELETE", "/api/source"), ("GET", "/api/source"),
                         ("POST", f"/api/grade?id={ID}&device=%3Cscript%3E"), ("POST", f"/api/quiz?id={ID}&question=-1")):
        status = t.ask(method, path, b"")[0]
        attempt("garbage", f"{method} {path}", f"status {status}", 400 <= status < 500)


def smuggle(t):
    """One message that a proxy and the server could split differently; the hidden part would replace the code."""
    before = t.source()
    digest = hashlib.sha256(before.encode()).hexdigest()
    headers = f"Host: {t.host}\r\nCookie: {t.cookie}\r\n"
    hidden = f"PUT /api/source?id={ID} HTTP/1.1\r\n{headers}If-Match: {digest}\r\nConnection: close\r\nContent-Length: 8\r\n\r\nsmuggled"
    end = "0\r\n\r\n" + hidden
    for what, framing, body in (
            ("a length and chunks", f"Content-Length: {len(end)}\r\nTransfer-Encoding: chunked\r\n", end),
            ("a space before the colon of Transfer-Encoding", "Transfer-Encoding : chunked\r\nContent-Length: 5\r\n", end),
            ("Transfer-Encoding: xchunked", "Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n", end),
            ("two codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", end),
            ("two lengths", f"Content-Length: 0\r\nContent-Length: {len(hidden)}\r\n", hidden),
            ("a length of +5", "Content-Length: +5\r\n", end), ("a length of 0x5", "Content-Length: 0x5\r\n", end),
            ("a foreign Host, then the rest as a body", f"Host: evil.example\r\nContent-Length: {len(hidden)}\r\n", hidden),
            ("a body that is too large", "Content-Length: 99999999\r\n", hidden)):
        answer, _ = t.raw(f"POST /api/stop HTTP/1.1\r\n{headers}{framing}\r\n{body}".encode(), 5)
        statuses = re.findall(rb"HTTP/1.1 (\d+)", answer)
        attempt("smuggling", what, f"status {b', '.join(statuses).decode()}, the code is {'un' if t.source() == before else ''}changed",
                t.source() == before and b"200" not in statuses and b"202" not in statuses)
        (t.top / "work/chapters" / (ID + ".cu")).write_text(before)
    for what, line in (("a second Host", "Host: evil.example"), ("a second Origin", "Origin: http://127.0.0.1:1\r\nOrigin: https://evil.example"),
                       ("a space in a header's name", "X Y: z")):
        answer, _ = t.raw(f"GET /api/contents HTTP/1.1\r\n{headers}{line}\r\nConnection: close\r\n\r\n".encode(), 5)
        attempt("smuggling", what, answer.split(b"\r\n")[0].decode(), b" 400 " in answer[:20] or b" 403 " in answer[:20])
    one, other = f"GET /style.css HTTP/1.1\r\n{headers}\r\n", f"GET /api/contents HTTP/1.1\r\nHost: {t.host}\r\n\r\n"
    statuses = re.findall(rb"HTTP/1.1 (\d+)", t.raw((one + other + one).encode(), 5)[0])
    attempt("pipelining", "a request without a cookie between two with it", f"status {b', '.join(statuses).decode()}", statuses == [b"200", b"403"])
    statuses = re.findall(rb"HTTP/1.1 (\d+)", t.raw((f"GET /api/history?id={ID} HTTP/1.1\r\n{headers}\r\n" * 500).encode(), 15)[0])
    attempt("pipelining", "500 requests in one packet", f"{statuses.count(b'200')} answered", statuses == [b"200"] * 500)


def upgrade(t):
    """Other protocols on the same connection; names that look like this machine."""
    socket_headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13"}
    status = t.ask("GET", "/api/events", Origin="https://evil.example", **socket_headers)[0]
    attempt("upgrade", "a WebSocket from a foreign page, with the cookie", f"status {status}", status == 403)
    for what, headers in (("a WebSocket", socket_headers), ("HTTP/2 without TLS", {"Upgrade": "h2c", "Connection": "Upgrade, HTTP2-Settings", "HTTP2-Settings": "AAMAAABk"})):
        status = t.ask("GET", "/api/contents", **headers)[0]
        attempt("upgrade", what, f"status {status}, no other protocol", status == 200)
    for method, path, expected in (("CONNECT", "evil.example:80", 405), ("TRACE", "/", 405), ("OPTIONS", "*", 405), ("GET", "http://evil.example/api/contents", 404)):
        status = t.ask(method, path)[0]
        attempt("upgrade", f"{method} {path}", f"status {status}", status == expected)
    for host in ("\uff11\uff12\uff17.0.0.1", "localhost\u3002", "\u217cocalhost", "localhost.", "LOCALHOST", "127.1", "2130706433", "0x7f.1", "xn--localhost",
                 "user@localhost", "[localhost"):
        answer, _ = t.raw(f"GET /api/contents HTTP/1.1\r\nHost: {host}:{t.port}\r\nCookie: {t.cookie}\r\nConnection: close\r\n\r\n".encode())
        attempt("DNS rebinding", f"Host {ascii(host)}", answer.split(b"\r\n")[0].decode(), b" 403 " in answer[:20])
    headers = t.ask("GET", f"/?token={t.token}", cookie=False)[2]
    attempt("leak", "the token in Referer or a cache", f"{headers['Referrer-Policy']}, {headers['Cache-Control']}",
            headers["Referrer-Policy"] == "no-referrer" and headers["Cache-Control"] == "no-store")
    for what, conditional in (("If-None-Match: *", {"If_None_Match": "*"}), ("If-Modified-Since in the future", {"If_Modified_Since": "Fri, 01 Jan 2100 00:00:00 GMT"})):
        status = t.ask("GET", "/api/contents", cookie=False, **conditional)[0]
        attempt("leak", f"{what}, no cookie", f"status {status}", status == 403)


def endless(t):
    """Bodies that never end, and pages that never read their events."""
    head = f"PUT /api/source?id={ID} HTTP/1.1\r\nHost: {t.host}\r\nCookie: {t.cookie}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    for what, chunk, pause in (("a chunk of a byte each 0.2 s", b"1\r\nx\r\n", 0.2), ("chunks of 64 KiB as fast as possible", b"ffff\r\n" + b"x" * 65535 + b"\r\n", 0)):
        memory, begin, sent = t.memory(), time.monotonic(), 0
        with socket.create_connection(("127.0.0.1", t.port), timeout=20) as s:
            try:
                s.sendall(head)
                while time.monotonic() - begin < 20:
                    s.sendall(chunk)
                    sent += len(chunk)
                    time.sleep(pause)
            except OSError:
                pass
        seconds, grown = time.monotonic() - begin, t.memory() - memory
        attempt("endless", what, f"closed after {seconds:.0f} s, {grown / MIB:+.1f} MiB", seconds < 14 and grown < 8 * MIB)
    answer, _ = t.raw(head + f"1;a={'x' * MIB}\r\nx\r\n0\r\n\r\n".encode(), 15)
    attempt("endless", "a chunk's extension of 1 MiB", answer.split(b"\r\n")[0].decode() or "closed", b" 200 " not in answer[:20])
    answer, _ = t.raw(head + b"0\r\n" + b"X: y\r\n" * 100000 + b"\r\n")
    attempt("endless", "100 000 trailers", answer.split(b"\r\n")[0].decode() or "closed", not answer or b" 4" in answer[:14])
    with contextlib.ExitStack() as stack:
        begin = time.monotonic()
        for _ in range(300):
            stack.enter_context(socket.create_connection(("127.0.0.1", t.port), timeout=30))
        served = sum(t.ask("GET", "/api/contents")[0] == 200 for _ in range(20))
        seconds = time.monotonic() - begin
        attempt("slow", "300 silent connections", f"{served} of 20 other requests answered, in {seconds:.1f} s", served == 20 and seconds < 9)


def deafen(t):
    """Pages that listen to events and never read them, while the queue changes 4000 times."""
    memory, files = t.memory(), t.open_files()
    t.ask("PUT", "/api/play?name=spin.cu", b"int main() { for (;;) ; }", If_Match="new")
    with contextlib.ExitStack() as stack:
        statuses = []
        for _ in range(20):
            s = stack.enter_context(socket.socket())
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            s.settimeout(20)
            s.connect(("127.0.0.1", t.port))
            s.sendall(f"GET /api/events HTTP/1.1\r\nHost: {t.host}\r\nCookie: {t.cookie}\r\n\r\n".encode())
            statuses.append(s.recv(12)[9:])
        t.ask("POST", "/api/play?name=spin.cu", b"")
        most = 0
        for i in range(4000):
            t.ask("POST", f"/api/play?name=p{i % 100}.cu", b"")
            if i % 100 == 0:
                most = max(most, t.memory() - memory)
        attempt("slow", "20 pages that never read their events", f"{statuses.count(b'200')} listen; at most {most / MIB:+.0f} MiB, then {(t.memory() - memory) / MIB:+.0f} MiB",
                statuses.count(b"200") == 16 and most < 300 * MIB and t.memory() - memory < 40 * MIB)
    status = t.ask("GET", "/api/contents")[0]
    attempt("slow", "a request after that", f"status {status}", status == 200)


def outside(t):
    """The student's folder holds links and odd names, as a folder from somebody else may; programs name files outside."""
    secret, chapter = t.top / "secret.cu", t.top / "work/chapters/02-coalescing"
    secret.write_text("SECRET\n")
    (chapter / "particles.cu").unlink()
    (chapter / "particles.cu").symlink_to(secret)
    for method, path, body in (("GET", "/api/exercise?id=02-coalescing/particles", None), ("PUT", "/api/source?id=02-coalescing/particles", b"x")):
        status, text, _ = t.ask(method, path, body, If_Match=hashlib.sha256(b"SECRET\n").hexdigest())
        attempt("traversal", f"{method} of an exercise that is a link", f"status {status}", status == 422 and b"SECRET" not in text and secret.read_text() == "SECRET\n")
    (t.top / "work/playground/a\nb.cu").write_text("x")
    (t.top / "work/playground/<img src=x>.cu").write_text("x")
    programs = json.loads(t.ask("GET", "/api/playground")[1])["programs"]
    attempt("file name", "a newline, and markup, in names of the playground", f"not listed: {programs}", all(re.fullmatch(r"[\w-]+\.cu", p) for p in programs))
    results = t.play("outside.cu", f'#include <cstdio>\n#include "{secret}"\nint main() {{}}\n')
    attempt("traversal", "a program that includes a file outside", results["end"], "SECRET" not in results["output"] and "No such file" in results["output"])
    code = '#include <cstdio>\nint main() { for (const char *n : {"%s", "%s", "/etc/hostname", "/proc/1/environ"}) printf("%%d", fopen(n, "r") != nullptr); puts("<svg onload=x>"); }\n'
    results = t.play("opens.cu", code % (secret, t.top / "state/serve.html"))
    attempt("traversal", "a program that opens four files outside", results["output"].split("\n")[0], results["output"].startswith("0000<svg onload=x>"))


def race(t):
    """Saves by the page and by another editor at the same time. The editor exchanges the files, so it knows which texts it replaced; the
    server must keep all that the page's saves replaced."""
    path = t.top / "work/chapters/03-tiling/window_sum.cu"
    id_, digest, written, taken, statuses = "03-tiling/window_sum", hashlib.sha256(path.read_bytes()).hexdigest(), [], set(), []
    end, library = time.monotonic() + 2.5, ctypes.CDLL(None)

    def other():
        while time.monotonic() < end:
            new = path.with_suffix(".new")
            new.write_text(text := f"// another editor, save {len(written)}\n")
            if library.renameat2(-100, os.fsencode(new), -100, os.fsencode(path), 2):  # AT_FDCWD, RENAME_EXCHANGE
                return
            written.append(text)
            taken.add(new.read_text())
            time.sleep(0.03)

    editor = threading.Thread(target=other)
    editor.start()
    while time.monotonic() < end:
        text = f"// the page, save {len(statuses)}\n"
        status, answer, _ = t.ask("PUT", f"/api/source?id={id_}", text.encode(), If_Match=digest)
        statuses.append(status)
        if status == 200:
            written.append(text)
        digest = json.loads(answer)["digest"]
        time.sleep(0.02)
    editor.join()
    kept = {f.read_text(errors="replace") for f in (t.top / "state").rglob("*") if f.is_file()}
    lost = set(written) - taken - kept - {path.read_text()}
    attempt("race", f"{statuses.count(200)} saves by the page among {len(written) - statuses.count(200)} by another editor",
            f"{statuses.count(409)} conflicts, {len(lost)} texts lost", not lost and {200, 409} >= set(statuses) and statuses.count(200) > 0)


class ClassTarget(Target):
    """A server of a class; the cookie is the instructor's, `student` that of s21."""

    def __init__(self, grader, top):
        import class_page  # its class of 24 students
        os.mkdir(top + "/work")
        class_page.make_class(grader, top)
        self.environment = {**os.environ, "XDG_STATE_HOME": top + "/state"}
        self.start(grader, top, "--class", "c.db", "--author", "Poe", "--tokens", "tokens")
        self.student = f"warpbook_{self.port}={class_page.STUDENT_TOKEN}"


def cross(t):
    """A student's token for what other students handed in, alone and on a connection that a proxy shares with the instructor."""
    other = "/api/submission?student=s20&exercise=02-coalescing/transpose"
    for method, path, body, expected in (
            ("GET", other, None, 404), ("GET", "/api/submission?student=S21&exercise=02-coalescing/transpose", None, 404),
            ("GET", "/api/submission?student=s21%00&student=s20&exercise=02-coalescing/transpose", None, 200),
            ("GET", "/api/pair?exercise=02-coalescing/transpose&a=s04&b=s09", None, 403), ("GET", "/api/similar", None, 403), ("GET", "/c.db", None, 404),
            ("GET", "/tokens", None, 404), ("POST", "/api/decide?student=s20&exercise=02-coalescing/transpose", b"{}", 422),
            ("POST", "/api/decide?student=s21&exercise=02-coalescing/transpose",
             b'{"kind": "score", "value": "100", "reason": "x", "line": 0, "seen": 0}', 422)):
        status, text, headers = t.ask(method, path, body, cookie=False, Cookie=t.student)
        attempt("class", f"{method} {path[:60]} by a student", f"status {status}", status == expected and b"s20" not in text and b"by s04" not in text)
    rows = t.ask("GET", "/api/class", cookie=False, Cookie=t.student)[1]
    attempt("class", "the table by a student", "own row only", b"s21" in rows and b"s20" not in rows)
    for what, headers in (("If-None-Match: *", {"If_None_Match": "*"}), ("a range", {"Range": "bytes=0-9"})):
        status, _, answer = t.ask("GET", other, cookie=False, Cookie=t.student, **headers)
        attempt("class", f"{what}, of another student", f"status {status}, {answer['Cache-Control']}", status == 404 and answer["Cache-Control"] == "no-store" and not answer["ETag"])
    ask = lambda cookie, path: f"GET {path} HTTP/1.1\r\nHost: {t.host}\r\nCookie: {cookie}\r\n\r\n"
    answer, _ = t.raw((ask(t.student, "/api/class") + ask(t.cookie, "/api/class") + ask(t.student, "/api/class") + ask(t.student, other)).encode(), 5)
    parts = answer.split(b"HTTP/1.1 ")[1:]
    sees = [b"s20" in p for p in parts]
    attempt("class", "student, instructor, student on one connection", f"others' rows: {sees}", sees == [False, True, False, False])
    both = t.ask("GET", "/api/class", cookie=False, Cookie=f"{t.student}; {t.student[:-1]}0; x={t.token}")[1]
    attempt("class", "the instructor's token under another cookie's name", "own row only", b"s20" not in both)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grader")
    parser.add_argument("--requests", type=int, default=10000)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as top:
        t = Target(os.path.abspath(o.grader), top)
        try:
            for attack in (forge, rebind, traverse, oversize, garble, smuggle, upgrade, outside, race, slow, endless):
                attack(t)
            flood(t, o.requests)
            deafen(t)
            status = t.ask("GET", "/api/contents")[0]
            attempt("after all", "the server answers", f"status {status}", status == 200 and t.process.poll() is None)
        finally:
            t.process.terminate()
            t.process.wait()
    with tempfile.TemporaryDirectory() as top:
        t = ClassTarget(os.path.abspath(o.grader), top)
        try:
            cross(t)
        finally:
            t.process.terminate()
            t.process.wait()
    print(f"grader serve under attack: {len(rows)} attempts, {len(faults)} broken")
    return faults != []


if __name__ == "__main__":
    sys.exit(main())
