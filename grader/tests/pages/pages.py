#!/usr/bin/env python3
"""make check-pages: checks that every page of a folder parses, has no broken link and loads nothing. If it finds a Chromium, also that
each shows no error from 360 to 2560 px, in light and dark, does not scroll sideways, clips nothing, and is not cut off when printed.
If it finds axe-core, also that axe reports no violation (WCAG 2.2, A and AA).

    pages.py FOLDER [PICTURES]      PICTURES: a folder for screenshots, index.html and the first pages

The second half needs Chromium, which `make check-pages` installs if it can, as grader/packages.txt names it. It controls Chromium
through two pipes, with the DevTools protocol. axe-core is the file that AXE_CORE names, or that in build/axe."""
import base64, html.parser, json, os, pathlib, re, shutil, subprocess, sys, time

WIDTHS = (360, 720, 1280, 1920, 2560)
PAPER = 718  # CSS pixels: A4, 210 mm at 96 to the inch, less Chromium's margins of a centimetre
# What paper cuts off, since nobody can scroll there: boxes whose content is wider than they are, or that end beyond the sheet.
CUT = """[...document.querySelectorAll('pre,.scroll,.side>div,table,svg')].filter(e => e.getClientRects().length &&
(e.scrollWidth > e.clientWidth + 1 && e.tagName == 'PRE' || e.getBoundingClientRect().right > innerWidth + 1))
.map(e => (e.className.baseVal ?? e.className) + ' ' + e.tagName + ': ' + e.textContent.trim().slice(0, 40)).slice(0, 3).join('; ')"""
# What a window clips: boxes without a scroll bar whose content is wider than they are, cells whose content covers the next one, and
# boxes that end beyond the box that scrolls them, or beyond the page. Text for screen readers only (1 px wide) doesn't count.
CLIPPED = """[...document.querySelectorAll('body *')].filter(e => {
if (!e.getClientRects().length || e.closest('svg svg, svg *, .CodeMirror, select')) return false;
const s = getComputedStyle(e), hides = /hidden|clip/.test(s.overflowX), scrolls = /auto|scroll/.test(s.overflowX);
if (hides && e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1) return true;
if (/^(TD|TH|PRE|P|LI|FIGURE)$/.test(e.tagName) && !hides && !scrolls && e.scrollWidth > e.clientWidth + 1 && e.clientWidth) return true;
for (let a = e.parentElement; a; a = a.parentElement) if (/auto|scroll|hidden|clip/.test(getComputedStyle(a).overflowX) && a !== document.documentElement && a !== document.body) return false;
return e.getBoundingClientRect().right > document.documentElement.clientWidth + 1;
}).map(e => (e.className.baseVal ?? e.className) + ' ' + e.tagName + ': ' + e.textContent.trim().slice(0, 40)).slice(0, 3).join('; ')"""
AXE_RUN = """axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'], resultTypes: ['violations']}).then(r =>
r.violations.map(v => `${v.id}: ${v.help} (${v.nodes.length}): ${v.nodes[0].html.slice(0, 120)} ${(v.nodes[0].any[0]?.message ?? '').slice(0, 120)}`))"""
VOID = {"meta", "br", "hr", "input", "img", "link"}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.path, self.stack, self.faults, self.links, self.ids = path, [], [], [], set()
        self.feed(path.read_text(encoding="utf-8"))
        self.close()
        if self.stack:
            self.faults.append(f"not closed: {self.stack[-1]}")

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("src", "srcset", "style", "data", "action", "poster") or name.startswith("on"):
                self.faults.append(f"<{tag} {name}>")
            if name == "id":
                self.ids.add(value)
            if name == "href":
                self.links.append(value)
                if tag != "a":
                    self.faults.append(f"<{tag} href>")
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.stack or self.stack.pop() != tag:
            self.faults.append(f"closed out of order: {tag} in line {self.getpos()[0]}")


def check_text(path, folder, read):
    page = read[path.name] = Page(path)
    text = path.read_text(encoding="utf-8")
    if "default-src 'none'" not in text:
        page.faults.append("no content security policy")
    if re.search(r"url\(|@import", re.search(r"<style>(.*?)</style>", text, re.S).group(1)):
        page.faults.append("a style that asks for something")
    for link in page.links:
        target = link.split("#")[0]
        if not re.match(r"[a-z]+:", link) and target and ("/" in target or not (folder / target).exists()):
            page.faults.append(f"a link to {link}, which is not there")
    return page.faults


def find_axe():
    """Returns the text of axe-core; None = this machine has none."""
    path = pathlib.Path(os.environ.get("AXE_CORE") or pathlib.Path(__file__).parents[3] / "build/axe/axe_core_python/axe.min.js")
    return path.read_text(encoding="utf-8") if path.exists() else None


class Browser:
    def __init__(self, program):
        ours, theirs = os.pipe(), os.pipe()  # what it reads, what it writes
        def into_place():
            a, b = os.dup(ours[0]), os.dup(theirs[1])
            os.dup2(a, 3), os.dup2(b, 4)
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
             "--disable-background-networking", "about:blank"],
            preexec_fn=into_place, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(ours[0]), os.close(theirs[1])
        self.to, self.of, self.rest, self.number, self.events = ours[1], theirs[0], b"", 0, []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")

    def read(self):
        while b"\0" not in self.rest:
            chunk = os.read(self.of, 1 << 16)
            if not chunk:
                sys.exit("pages: the browser ended")
            self.rest += chunk
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if hasattr(self, "session"):
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                # The page moved on meanwhile, as after a sign-in; a caller that waits asks again.
                if "navigated or closed" in answer.get("error", {}).get("message", ""):
                    return {"result": {}}
                if "error" in answer:
                    sys.exit(f"pages: {method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width, dark, media=""):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 500)
        self.ask("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events.clear()
        self.ask("Page.navigate", url=path.absolute().as_uri())
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.read())

    def clipped(self):
        cut = self.ask("Runtime.evaluate", expression=CLIPPED)["result"].get("value")
        return [f"clipped: {cut}"] if cut else []

    def violations(self, axe):
        """Returns what axe-core finds wrong on the page."""
        if not axe:
            return []
        self.ask("Runtime.evaluate", expression=axe)
        found = self.ask("Runtime.evaluate", expression=AXE_RUN, awaitPromise=True, returnByValue=True)
        return [f"axe: {v}" for v in found["result"].get("value", ["it failed"])]

    def faults(self, path):
        found = self.clipped()
        wide = self.ask("Runtime.evaluate", expression="document.documentElement.scrollWidth - innerWidth")["result"]["value"]
        if wide > 0:
            found.append(f"scrolls sideways by {wide} px")
        for e in self.events:
            method, p = e.get("method"), e.get("params", {})
            if method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
                found.append("console: " + p["entry"]["text"][:160])
            if method == "Runtime.exceptionThrown":
                found.append("script: " + p["exceptionDetails"]["text"])
            url = p.get("request", {}).get("url", "") if method == "Network.requestWillBeSent" else ""
            if url and url != path.absolute().as_uri():
                found.append("asks for " + url[:100])
        return found

    def cut_on_paper(self, path):
        self.open(path, PAPER, False, "print")
        cut = self.ask("Runtime.evaluate", expression=CUT)["result"].get("value")
        return [f"cut off: {cut}"] if cut else []

    def picture(self, to):
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=True,
                        clip={"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000), "scale": 1})
        to.write_bytes(base64.b64decode(shot["data"]))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    pages, bad = sorted(folder.glob("*.html")), 0
    if not pages:
        sys.exit(f"pages: no page in {folder}")

    def tell(path, where, faults):
        nonlocal bad
        for f in sorted(set(faults)):
            bad += 1
            print(f"{path.name}{where}: {f}")

    read = {}
    for path in pages:
        tell(path, "", check_text(path, folder, read))
    for path in pages:
        for target, _, place in (link.partition("#") for link in read[path.name].links):
            there = read.get(target or path.name)
            if there and place and place not in there.ids:
                tell(path, "", [f"a link to #{place}, a place that {target or 'it'} does not have"])
    program = next((p for p in map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome")) if p), None)
    if not program:
        print("skipped: how pages look, no Chromium is here (sh grader/setup.sh build pages)")
    else:
        browser, axe = Browser(program), find_axe()
        if not axe:
            print("skipped: accessibility, no axe-core is here (sh grader/setup.sh build pages, or AXE_CORE=axe.min.js)")
        for i, path in enumerate(pages):
            for width in WIDTHS:
                dark = width == 720
                browser.open(path, width, dark)
                tell(path, f" at {width} px", browser.faults(path))
                if width in (720, 1280):  # dark, light
                    tell(path, f" at {width} px", browser.violations(axe))
                if pictures and (i < 3 or path.name == "index.html"):
                    pictures.mkdir(parents=True, exist_ok=True)
                    browser.picture(pictures / f"{path.stem}-{width}{'-dark' if dark else ''}.png")
            tell(path, " on paper", browser.cut_on_paper(path))
        browser.process.terminate()
    print(f"{len(pages)} pages, {bad} faults")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
