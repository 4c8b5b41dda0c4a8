#!/usr/bin/env python3
"""make check-pages: drives `grader serve` in a real browser: contents, an exercise, an edit that is saved and graded, an edit by another
program, a conflict, a reload, a restored version, hints. It also looks for errors and sideways scrolling at several widths.

    workbench.py GRADER [PICTURES]      PICTURES: a folder for screenshots

It needs: apt-get install chromium-headless-shell (or chromium). pages.py controls the browser."""
import json, os, pathlib, re, shutil, socket, subprocess, sys, tempfile, threading, time
from pages import Browser

WIDTHS = (360, 1280, 1920)
PATIENCE = 60  # seconds for a grading on a busy machine
ID = "02-coalescing/transpose"
TEXT = "(document.querySelector('.CodeMirror')?.CodeMirror ?? {getValue: () => document.querySelector('textarea').value})"
SET = """(text => { const c = document.querySelector('.CodeMirror')?.CodeMirror; if (c) c.setValue(text);
else { const f = document.querySelector('textarea'); f.value = text; f.dispatchEvent(new Event('input')); } })"""
RACE = """__global__ void transpose_kernel(float *out, const float *in, int rows, int cols) {
    __shared__ float tile[32];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y;
    bool inside = col < cols;
    tile[threadIdx.x] = inside ? in[row * cols + col] : 0;
    int lane = threadIdx.x ^ 1;
    float v = tile[lane];
    if (inside) out[col * rows + row] = v;
}
extern "C" void transpose(float *out, const float *in, int rows, int cols) {
    if (rows && cols) transpose_kernel<<<dim3((cols + 31) / 32, rows), 32>>>(out, in, rows, cols);
}
"""
faults = []


class Page(Browser):
    def eval(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise SystemExit(f"workbench: {expression[:80]}: {answer['exceptionDetails']['exception'].get('description', '')[:300]}")
        return answer["result"].get("value")

    def wait(self, expression, what):
        end = time.time() + PATIENCE
        while not self.eval(f"!!({expression})"):
            if time.time() > end:
                shown = self.eval("document.body.innerText")
                raise SystemExit(f"workbench: never happened: {what}; the page shows:\n{shown[-2500:]}")
            time.sleep(0.1)

    def size(self, width, dark=False):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def goto(self, url):
        self.events.clear()
        self.ask("Page.navigate", url=url)
        self.wait("document.readyState == 'complete'", f"{url} loads")

    def click(self, label, within="document"):
        self.wait(f"[...{within}.querySelectorAll('button')].some(b => b.textContent == {json.dumps(label)} && !b.disabled)", f"a button {label}")
        self.eval(f"[...{within}.querySelectorAll('button')].find(b => b.textContent == {json.dumps(label)}).click()")

    def look(self, name, pictures, origin):
        for width in WIDTHS:
            self.size(width, dark=width == 1280)
            time.sleep(0.3)
            wide = self.eval("document.documentElement.scrollWidth - innerWidth")
            if wide > 0:
                faults.append(f"{name} scrolls sideways by {wide} px at {width}: " + self.eval(
                    "[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1).slice(0, 3)"
                    ".map(e => e.tagName + '.' + e.className).join(', ')"))
            if pictures:
                self.picture(pictures / f"{name}-{width}.png")
        for e in self.events:
            p = e.get("params", {})
            if e.get("method") == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
                faults.append(f"{name}: console: {p['entry']['text'][:200]} {p['entry'].get('url', '')}")
            if e.get("method") == "Runtime.exceptionThrown":
                d = p["exceptionDetails"]
                faults.append(f"{name}: script: {d['text']} {d.get('exception', {}).get('description', '')[:300]}")
            url = p.get("request", {}).get("url", "") if e.get("method") == "Network.requestWillBeSent" else ""
            if url and not url.startswith((origin, "file:")):
                faults.append(f"{name} requests {url[:100]}")
        self.events.clear()


def expect(condition, what):
    if not condition:
        faults.append(what)


def run(page, url, file, pictures):
    origin = url.split("?")[0]
    delivered = file.read_text()
    verdict = "document.getElementById('verdict')?.textContent ?? ''"
    page.size(1280)
    opener = file.parents[2] / "opener.html"  # as `grader serve --open` writes it: a foreign page leads to the address
    opener.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={url}">')
    page.ask("Page.navigate", url=opener.as_uri())
    page.wait("document.querySelectorAll('table.contents a').length > 50", "the contents list the exercises")
    expect("token" not in page.eval("location.href"), "the address still shows the token")
    page.look("contents", pictures, origin)

    # An edit in the page is saved to the very file and graded; the error is a mark at its line.
    page.eval(f"location.hash = '#/{ID}'")
    page.wait(f"document.querySelector('#code') && (document.querySelector('.CodeMirror')?.CodeMirror || document.querySelector('textarea'))", "an editor")
    page.wait(f"{TEXT}.getValue() == {json.dumps(delivered)}", "the editor holds the file")
    broken = delivered.replace("int col =", "int col = nothing +", 1)
    page.eval(f"{SET}({json.dumps(broken)})")
    page.click("Save and grade")
    page.wait(f"{verdict}.startsWith('CE')", "a compile error")
    expect(file.read_text() == broken, "the file doesn't hold what the page saved")
    page.wait("[...document.querySelectorAll('.finding')].some(f => /identifier \"nothing\" is undefined/.test(f.textContent))", "the error at its line")

    # Without CodeMirror, the text field shows and saves the same.
    page.ask("Network.setBlockedURLs", urls=["*codemirror*"])
    page.goto("about:blank")
    page.goto(f"{origin}#/{ID}")
    page.wait(f"document.querySelector('textarea:not(.CodeMirror *)')?.value == {json.dumps(broken)}", "the file in the text field")
    page.wait("document.querySelector('.numbers .bad')?.textContent == '✖ 4'", "a mark at the line")
    page.eval(f"{SET}({json.dumps(broken + chr(10))})")
    page.click("Save and grade")
    page.wait("!/Not saved/.test(document.body.innerText)", "a save from the text field")
    expect(file.read_text() == broken + "\n", "the text field didn't save")
    if pictures:
        page.size(1280)
        page.picture(pictures / "textfield-1280.png")
    page.ask("Network.setBlockedURLs", urls=[])
    page.goto("about:blank")
    page.goto(f"{origin}#/{ID}")
    page.wait("document.querySelector('.CodeMirror, textarea')", "an editor")

    # Another editor's save arrives; the profile is in the source.
    file.write_text(delivered + "// by another editor\n")
    page.wait(f"{TEXT}.getValue().endsWith('// by another editor\\n')", "the page shows another editor's save")
    page.wait(f"{verdict}.startsWith('PART')", "its result")
    page.wait("/goal not reached/.test(document.body.innerText)", "the missed goal")
    page.wait("/^rgba/.test(getComputedStyle(document.querySelector('pre.h4, .numbers .h4') ?? document.body).backgroundColor)", "heat at the line")
    page.look("exercise", pictures, origin)

    # Both sides change the file: nothing is lost, and the user chooses.
    page.eval(f"{SET}({json.dumps(delivered + '// mine' + chr(10))})")
    file.write_text(delivered + "// theirs\n")
    page.wait("document.getElementById('conflict')", "a conflict")
    expect(file.read_text().endswith("// theirs\n"), "the conflict overwrote the file")
    expect("// theirs" in page.eval("document.getElementById('conflict').innerText"), "the conflict doesn't show the file's version")
    page.look("conflict", pictures, origin)
    page.click("Keep mine")
    page.wait("!document.getElementById('conflict')", "the conflict ends")
    page.wait("!/Not saved/.test(document.body.innerText)", "a save")
    expect(file.read_text().endswith("// mine\n"), "Keep mine didn't save mine")

    # An unsaved text survives a reload.
    page.eval(f"{SET}({json.dumps(delivered + '// a draft' + chr(10))})")
    page.wait("/Not saved/.test(document.body.innerText)", "the page says that the text isn't saved")
    page.goto("about:blank")
    page.goto(f"{origin}#/{ID}")
    page.wait(f"document.querySelector('.CodeMirror, textarea') && {TEXT}.getValue().endsWith('// a draft\\n')", "the draft after a reload")
    page.click("Save and grade")
    page.wait("!/Not saved/.test(document.body.innerText)", "the draft is saved")

    # The history has every version, also the one that lost the conflict; one is restored.
    page.wait("document.getElementById('step').textContent == ''", "the grading ends")
    page.click("History")
    page.wait("document.querySelectorAll('#history tr').length > 4", "the history")
    page.eval("[...document.querySelectorAll('#history button')].filter(b => b.textContent == 'Compare').at(-2).click()")
    page.wait("document.querySelector('#history .diff')", "a comparison")
    page.look("history", pictures, origin)
    page.eval("[...document.querySelectorAll('#history button')].filter(b => b.textContent == 'Restore').at(-1).click()")
    page.wait("/Restored/.test(document.body.innerText)", "the starter file is restored")
    expect(file.read_text() == delivered, "Restore didn't write the starter file")

    # A race is marked at both of its lines.
    file.write_text(RACE)
    page.wait("[...document.querySelectorAll('.finding')].filter(f => /lines 7 and 5|lines 5 and 7/.test(f.textContent)).length == 2", "a race at both lines")

    # The solution comes after a question.
    page.click("Solution")
    expect("__shared__" not in page.eval("document.getElementById('text').innerText"), "the solution without a question")
    page.click("Show them")
    page.wait("/__shared__/.test(document.getElementById('text').innerText)", "the model solution")

    # A hint comes after a question, and counts.
    page.click("Hints")
    page.click("Show hint 1 of 3")
    expect(not page.eval("/Hint 1 of 3/.test(document.body.innerText)"), "a hint without a question")
    page.click("Show the hint")
    page.wait("/Hint 1 of 3/.test(document.body.innerText)", "the first hint")
    page.click("Lesson")
    page.wait("[...document.querySelectorAll('.md img')].length > 0", "pictures of the lesson")
    page.eval("document.querySelectorAll('.md img').forEach(i => i.loading = 'eager')")
    page.wait("[...document.querySelectorAll('.md img')].every(i => i.complete && i.naturalWidth > 0)", "the pictures load")
    page.look("lesson", pictures, origin)


def proxy(port, prefix):
    """Shows the server below a prefix, as JupyterHub and others do: one thread for each connection, which removes the prefix."""
    listener = socket.create_server(("127.0.0.1", 0))

    def pump(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def handle(client):
        head = b""
        while b"\r\n\r\n" not in head:
            if not (data := client.recv(65536)):
                return client.close()
            head += data
        head = head.replace(b" " + prefix.encode(), b" /", 1).replace(b"Connection: keep-alive", b"Connection: close")
        upstream = socket.create_connection(("127.0.0.1", port))
        upstream.sendall(head)
        threading.Thread(target=pump, args=(client, upstream), daemon=True).start()
        pump(upstream, client)
        client.close()

    def accept():
        while True:
            threading.Thread(target=handle, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def run_proxied(page, url, file, pictures):
    """The page below a prefix: it loads, saves, and hears the result."""
    page.size(1280)
    page.goto(url)
    page.wait("document.querySelectorAll('table.contents a').length > 50", "the contents below a prefix")
    page.eval(f"location.hash = '#/{ID}'")
    page.wait("document.querySelector('.CodeMirror, textarea')", "an editor below a prefix")
    page.wait(f"{TEXT}.getValue().length > 10", "the file below a prefix")
    page.eval(f"{SET}('wrong')")
    page.click("Save and grade")
    page.wait("(document.getElementById('verdict')?.textContent ?? '').startsWith('CE')", "a result below a prefix")
    expect(file.read_text() == "wrong", "a save below a prefix")
    page.look("prefix", pictures, url.split("?")[0])


def serve(program, grader, top, environment, arguments, test, pictures):
    """Runs a test against a server of its own, with the workspace in `top`."""
    served = subprocess.Popen([grader, "serve", *arguments], cwd=top + "/work", env=environment, stdout=subprocess.PIPE, text=True)
    page = None
    try:
        url = next(m[0] for line in served.stdout if (m := re.search(r"http://\S+", line)))
        page = Page(program)
        test(page, url, pathlib.Path(top, "work/chapters", ID + ".cu"), pictures)
    finally:
        if page:
            page.process.terminate()
        served.terminate()
        served.wait()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def main():
    program = next((p for p in map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome")) if p), None)
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if not program:
        print("skipped: the workbench in a browser, no Chromium is here (apt-get install chromium-headless-shell)")
        return 0
    grader = os.path.abspath(sys.argv[1])
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as top:
        environment = {**os.environ, "XDG_STATE_HOME": top + "/state"}
        subprocess.run([grader, "begin", top + "/work"], check=True, env=environment, stdout=subprocess.DEVNULL)
        serve(program, grader, top, environment, [], run, pictures)
        port, prefix = free_port(), "/user/ada/"
        serve(program, grader, top, environment, ["--listen", f"127.0.0.1:{port}", "--origin", f"http://127.0.0.1:{proxy(port, prefix)}{prefix}"],
              run_proxied, pictures)
    for f in sorted(set(faults)):
        print(f"workbench: {f}")
    print(f"the workbench in a browser, {len(set(faults))} faults")
    return faults != []


if __name__ == "__main__":
    sys.exit(main())
