#!/usr/bin/env python3
"""make check-pages: attacks `grader serve` over plain sockets, as a page of a foreign site, another user of the machine or a faulty
client would, and prints what each attempt got (docs/serve.md, "Attacks").

    attack.py GRADER [--requests N]      N: requests of the flood, 10000 by default"""
import argparse, http.client, json, os, pathlib, re, socket, subprocess, sys, tempfile, time

ID = "02-coalescing/transpose"
MIB = 1 << 20
rows, faults = [], []


class Target:
    """A server with a workspace of its own."""

    def __init__(self, grader, top):
        self.top = pathlib.Path(top)
        self.environment = {**os.environ, "XDG_STATE_HOME": top + "/state"}
        subprocess.run([grader, "begin", top + "/work"], check=True, env=self.environment, stdout=subprocess.DEVNULL)
        self.process = subprocess.Popen([grader, "serve"], cwd=top + "/work", env=self.environment, stdout=subprocess.PIPE, text=True)
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grader")
    parser.add_argument("--requests", type=int, default=10000)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as top:
        t = Target(os.path.abspath(o.grader), top)
        try:
            for attack in (forge, rebind, traverse, oversize, garble, slow):
                attack(t)
            flood(t, o.requests)
            status = t.ask("GET", "/api/contents")[0]
            attempt("after all", "the server answers", f"status {status}", status == 200 and t.process.poll() is None)
        finally:
            t.process.terminate()
            t.process.wait()
    print(f"grader serve under attack: {len(rows)} attempts, {len(faults)} broken")
    return faults != []


if __name__ == "__main__":
    sys.exit(main())
