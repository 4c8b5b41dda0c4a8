#!/usr/bin/env python3
"""make check-pages: drives `grader serve` in a real browser: contents, an exercise, an edit that is saved and graded, an edit by another
program, a conflict, a reload, a restored version, hints. It also looks for errors and sideways scrolling at several widths.

    workbench.py GRADER [PICTURES]      PICTURES: a folder for screenshots

It needs what pages.py needs, and nginx and the Python package jupyter-server-proxy for its last parts. pages.py controls the browser."""
import importlib.util, json, os, pathlib, re, shutil, socket, subprocess, sys, tempfile, threading, time
from pages import Browser, find_axe

WIDTHS = (360, 1280, 1920, 2560)
AXE = find_axe()
ROOT = pathlib.Path(__file__).resolve().parents[3]
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
        self.wait(f"[...{within}.querySelectorAll('button')].some(b => b.textContent == {json.dumps(label)} && !b.disabled && !b.hidden)", f"a button {label}")
        self.eval(f"[...{within}.querySelectorAll('button')].find(b => b.textContent == {json.dumps(label)} && !b.hidden).click()")

    def look(self, name, pictures, origin):
        for width in WIDTHS:
            self.size(width, dark=width == 1280)
            time.sleep(0.3)
            wide = self.eval("document.documentElement.scrollWidth - innerWidth")
            if wide > 0:
                faults.append(f"{name} scrolls sideways by {wide} px at {width}: " + self.eval(
                    "[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1).slice(0, 3)"
                    ".map(e => e.tagName + '.' + e.className).join(', ')"))
            faults.extend(f"{name} at {width}: {f}" for f in self.clipped())
            if width in (1280, 1920):  # dark, light
                faults.extend(f"{name} at {width}: {f}" for f in self.violations(AXE))
            for dark in (False, True) if pictures else ():
                self.size(width, dark)
                time.sleep(0.2)
                self.picture(pictures / f"{name}-{width}{'-dark' if dark else ''}.png")
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
    verdict = "(document.getElementById('verdict')?.textContent ?? '')"
    page.size(1280)
    opener = file.parents[2] / "opener.html"  # as `grader serve --open` writes it: a foreign page leads to the address
    opener.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={url}">')
    page.ask("Page.navigate", url=opener.as_uri())
    page.wait("document.querySelectorAll('table.contents a').length > 50", "the contents list the exercises")
    expect("token" not in page.eval("location.href"), "the address still shows the token")
    page.look("contents", pictures, origin)

    first_hour(page, origin, pictures)

    # An edit in the page is saved to the very file and graded; the error is a mark at its line.
    page.eval(f"location.hash = '#/{ID}'")
    page.wait(f"document.querySelector('#code') && (document.querySelector('.CodeMirror')?.CodeMirror || document.querySelector('textarea'))", "an editor")
    page.wait(f"{TEXT}.getValue() == {json.dumps(delivered)}", "the editor holds the file")
    broken = delivered.replace("int col =", "int col = nothing +", 1)
    page.eval(f"{SET}({json.dumps(broken)})")
    page.eval("document.activeElement.blur()")
    press(page, "s", 83, 2)  # outside of the editor, where the browser would save the page
    page.wait(f"{verdict}.startsWith('CE')", "a compile error")
    expect(file.read_text() == broken, "the file doesn't hold what the page saved")
    page.wait("[...document.querySelectorAll('.finding')].some(f => /identifier \"nothing\" is undefined/.test(f.textContent))", "the error at its line")
    page.eval("[...document.querySelectorAll('.next-step button')].find(b => b.textContent == 'line 4').click()")
    expect(page.eval("document.querySelector('.CodeMirror').CodeMirror.getCursor().line") == 3, "the advice's line doesn't lead there")
    press(page, "s", 83, 2)
    page.wait("/No change since/.test(document.querySelector('.tools').innerText)", "an answer to a save without a change")

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
    # The line's accesses, drawn: a warp that writes a column of floats touches 32 sectors of 32 bytes, and 128 bytes fit into 4.
    page.wait("/store of 4 bytes by 32 lanes: 32 sectors for 128 bytes, ideal: 4/.test(document.getElementById('line').innerText)", "the stores of line 7")
    page.wait("document.querySelectorAll('#line svg rect').length > 32", "a picture of the accesses")
    page.wait("document.querySelector('.pictures .p0, .pictures .key')", "the account of time")
    gap = page.eval("""document.querySelector('.editor').getBoundingClientRect().right - document.querySelector('.finding').getBoundingClientRect().right""")
    expect(gap < 24, f"the finding ends {gap} px before the editor does, so it takes more lines than it needs")
    page.look("exercise", pictures, origin)

    # Limits say on which side a value passes.
    page.wait("/global_store_sectors_per_request is 32, at most 4.5/.test(document.getElementById('result').innerText)", "the limit's side")

    # A reload during a grading shows that it still runs; then it is stopped.
    file.write_text(delivered.replace("int col =", "for (volatile int k = 0; k >= 0;) k = 0;\n    int col =", 1))
    page.wait("/^grading/.test(document.getElementById('step').textContent)", "a grading begins")
    page.goto("about:blank")
    page.goto(f"{origin}#/{ID}")
    page.wait("document.getElementById('step')", "the exercise again")
    expect(page.eval("/^grading/.test(document.getElementById('step').textContent)"), "the reloaded page doesn't show the grading")
    page.click("Stop", "document")
    page.wait("/^(stopped)?$/.test(document.getElementById('step').textContent)", "the end of a stopped grading")
    file.write_text(delivered + "// after a stop\n")
    page.wait(f"document.getElementById('step').textContent == '' && {verdict}.startsWith('PART') && !/earlier version/.test(document.body.innerText)", "the result after a stop")

    # Another device, by the menu; its result is no progress.
    page.eval("(m => { m.value = 'a100'; m.dispatchEvent(new Event('change')); })(document.getElementById('device'))")
    page.wait(f"/A100/.test({verdict})", "a result on another device")
    page.eval("(m => { m.value = 'h200'; m.dispatchEvent(new Event('change')); })(document.getElementById('device'))")
    page.wait(f"!/A100/.test({verdict})", "a result on the first device")

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
    page.size(1280)
    cut = page.eval("(s => s.scrollWidth - s.clientWidth)(document.querySelector('#history .scroll'))")
    expect(cut <= 1, f"the history is cut off by {cut} px at 1280")
    page.eval("[...document.querySelectorAll('#history button')].filter(b => b.textContent == 'Compare').at(-2).click()")
    page.wait("document.querySelector('#history .diff')", "a comparison")
    page.look("history", pictures, origin)
    page.eval("[...document.querySelectorAll('#history button')].filter(b => b.textContent == 'Restore').at(-1).click()")
    page.wait("/Restored/.test(document.body.innerText)", "the starter file is restored")
    expect(file.read_text() == delivered, "Restore didn't write the starter file")

    # A race is marked at both of its lines.
    file.write_text(RACE)
    page.wait("[...document.querySelectorAll('.finding')].filter(f => /lines 7 and 5|lines 5 and 7/.test(f.textContent)).length == 2", "a race at both lines")
    page.look("failing", pictures, origin)

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
    quiz(page, pictures, origin)
    tune(page, file, delivered, pictures, origin)
    hostile(page, file, delivered)
    full(page, file, pictures, origin)
    streams(page, file.parents[1], pictures, origin)
    playground(page, file.parents[2] / "playground", pictures, origin)


def press(page, key, code, modifiers=0, text=""):
    for kind in ("keyDown" if text else "rawKeyDown", "keyUp"):
        page.ask("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, modifiers=modifiers, **({"text": text} if kind == "keyDown" else {}))


def first_hour(page, origin, pictures):
    """A path, the search and a document, by the keyboard; the editor, in which nothing is cut off."""
    page.eval("(m => { m.value = 'beginner'; m.dispatchEvent(new Event('change')); })(document.getElementById('path'))")
    page.wait("/^The first twelve/.test(document.querySelector('section h2').textContent) && /vector_add/.test(document.querySelector('.next').textContent)", "a path")
    page.look("path", pictures, origin)
    press(page, "/", 191, text="/")
    expect(page.eval("document.activeElement.id") == "find", "the key / doesn't find")
    page.ask("Input.insertText", text="bank conf")
    page.wait("[...document.querySelectorAll('tr a')].filter(a => a.getClientRects().length).map(a => a.textContent).includes('swizzle')", "a chapter by its title")
    page.eval("(f => { f.value = ''; f.focus(); })(document.getElementById('find'))")
    page.ask("Input.insertText", text="vector_ad")
    press(page, "Enter", 13, text="\r")
    page.wait("location.hash == '#/00-roofline/vector_add' && document.querySelector('.CodeMirror')", "the exercise found")
    expect(page.eval("document.activeElement.id") in ("view", ""), "the focus isn't in the new view")
    # A new view begins at its top, the contents where they were left.
    page.eval("location.hash = '#/'")
    page.wait("document.getElementById('find')", "the contents again")
    page.eval("window.scrollTo(0, 900)")
    page.eval("location.hash = '#/00-roofline/vector_add'")
    page.wait("document.querySelector('.CodeMirror') && window.scrollY == 0", "an exercise from its top")
    page.eval("location.hash = '#/'")
    page.wait("document.getElementById('find') && window.scrollY > 800", "the contents where they were left")
    page.eval("location.hash = '#/00-roofline/vector_add'")
    page.wait("document.querySelector('.CodeMirror')", "the exercise again")
    expect(page.eval("(s => s.scrollWidth <= s.clientWidth + 1)(document.querySelector('.CodeMirror-scroll'))"), "a line of the starter file is cut off")

    # Text of several lines over a selection, as dictation enters it, then a save at once: the editor shows it, and Escape leaves.
    text = "one\ntwo\nthree"
    for _ in range(2):
        page.eval("document.querySelector('.CodeMirror').CodeMirror.focus()")
        press(page, "a", 65, 2)
        page.ask("Input.insertText", text=text)
        press(page, "s", 83, 2)
        page.wait(f"{TEXT}.getValue() == {json.dumps(text)} && document.querySelectorAll('.CodeMirror-line').length == 3", "the text in the editor")
        page.wait("(document.getElementById('verdict')?.textContent ?? '').startsWith('CE') && document.querySelector('.finding')", "its result")
    press(page, "Escape", 27)
    expect(page.eval("document.activeElement.textContent") == "Save and grade", "Escape doesn't leave the editor")

    page.click("Lesson")
    page.goto("about:blank")
    page.goto(f"{origin}#/00-roofline/vector_add/Lesson")
    page.wait("document.querySelector('[aria-pressed=true]')?.textContent == 'Lesson'", "the tab that the address names")
    page.wait("[...document.querySelectorAll('.text a')].some(a => a.hash.startsWith('#/docs/glossary/') && a.target == '_blank')", "links to the glossary")
    page.eval("location.hash = '#/docs/glossary/sector'")
    page.wait("document.getElementById('sector')?.getBoundingClientRect().top < innerHeight", "the glossary at the term")
    page.look("glossary", pictures, origin)
    page.eval("fetch('api/path?name=book', {method: 'POST'})")


def quiz(page, pictures, origin):
    """A question is judged, and counted on the simulated GPU. Every second float of 32 lanes: 256 bytes, 8 sectors."""
    send = """((n, answer) => { const i = document.querySelector(`#quiz input[name=question-${n}]`);
i.type == 'text' ? i.value = answer : document.querySelector(`#quiz input[name=question-${n}][value=${answer}]`).checked = true; i.form.requestSubmit(); })"""
    page.click("Quiz")
    page.wait("document.querySelectorAll('#quiz form').length >= 3", "the questions")
    expect(not page.eval("/8 sectors/.test(document.getElementById('quiz').innerText)"), "the answers without a question")
    page.eval(f"{send}(1, '16')")
    page.wait("/^No: it is 8, counted by the simulated GPU/.test(document.getElementById('reply-1').innerText)", "a wrong answer, corrected")
    page.eval(f"{send}(1, '8')")
    page.wait("/^Right: it is 8/.test(document.getElementById('reply-1').innerText)", "a right answer")
    page.eval(f"{send}(5, 'c')")
    page.wait("/^Right: it is c/.test(document.getElementById('reply-5').innerText)", "a right choice")
    page.eval(f"{send}(2, 'many')")
    page.wait("/must be a number/.test(document.getElementById('reply-2').innerText)", "an answer of the wrong form")
    page.look("quiz", pictures, origin)


def tune(page, file, delivered, pictures, origin):
    """A sweep shows its rows and plot. 8 x 8, 16 x 8 and 32 x 8 threads: three combinations."""
    page.click("Tune")
    page.click("Run the sweep")
    page.wait("/declares no parameter/.test(document.getElementById('sweep').innerText)", "a file without a parameter is named as the cause")
    page.click("Quiz")
    expect(not page.eval("/parameter/.test(document.getElementById('bar').innerText)"), "the sweep's failure stays in the bar")
    file.write_text("// tune: WIDTH 8 16 32\nconstexpr int WIDTH = 16;\n" + delivered.replace("dim3 block(32, 8)", "dim3 block(WIDTH, 8)"))
    page.wait(f"{TEXT}.getValue().startsWith('// tune')", "the file with a parameter")
    page.click("Tune")
    page.click("Run the sweep")
    page.wait("document.querySelectorAll('#sweep rect').length == 3", "a bar for each combination")
    page.wait("/3 of 3/.test(document.getElementById('sweep').innerText)", "all rows")
    expect(page.eval("/WIDTH=16.*yours/.test(document.getElementById('sweep').innerText)"), "the sweep doesn't mark the file's own values")
    page.look("tune", pictures, origin)


def hostile(page, file, delivered):
    """Source, compiler messages and comments are text: no element of theirs, no script."""
    image = '<img src=x onerror="document.title=1">'
    file.write_text(f'#warning {image}</script><script>document.title=1</script>\n// {image}\n#error {image}\n' + delivered)
    page.wait("[...document.querySelectorAll('.finding')].some(f => f.textContent.includes('<img src=x'))", "a message with markup, as text")
    expect(page.eval("document.title") != "1", "markup in the source ran a script")
    expect(page.eval("document.querySelectorAll('img[src=x]').length") == 0, "markup in the source became an element")


def full(page, file, pictures, origin):
    """The model solution has full marks."""
    file.write_text((ROOT / "solutions" / (ID + ".cu")).read_text())
    page.wait("(document.getElementById('verdict')?.textContent ?? '').startsWith('AC')", "full marks")
    page.look("full", pictures, origin)


def streams(page, chapters, pictures, origin):
    """The model solution of `overlap` copies 8 parts in, mixes them and copies them out, on 4 streams: 4 rows, 24 bars."""
    name = "13-async/overlap"
    page.eval(f"location.hash = '#/{name}'")
    page.wait("document.getElementById('bar').innerText.includes('13-async/overlap') && document.querySelector('.CodeMirror, textarea')", "another exercise")
    (chapters / (name + ".cu")).write_text((ROOT / "solutions" / (name + ".cu")).read_text())
    page.wait("(document.getElementById('verdict')?.textContent ?? '').startsWith('AC')", "full marks for overlap")
    timeline = "[...document.querySelectorAll('#result svg')].find(s => /each stream/.test(s.querySelector('title')?.textContent))"
    page.wait(timeline, "a timeline")
    rows = page.eval(f"{timeline}.textContent").count("stream ") - 1  # one is in the title
    bars = page.eval(f"{timeline}.querySelectorAll('rect').length")
    expect((rows, bars) == (4, 24), f"the timeline has {rows} rows and {bars} bars")
    page.look("streams", pictures, origin)


def playground(page, folder, pictures, origin):
    """A program with a main runs with simgpu in the sandbox. 65,536 floats are 8,192 sectors of 32 bytes, read once and written once."""
    page.eval("location.hash = '#/playground'")
    page.wait("document.querySelector('.play .CodeMirror, .play textarea')", "the playground's editor")
    page.wait(f"{TEXT}.getValue().includes('cudaMalloc')", "a first program")
    page.click("Save and run")
    page.wait("/exit status 0/.test(document.getElementById('result').innerText)", "the program's end")
    shown = page.eval("document.getElementById('result').innerText")
    expect("x[0] = 0" in shown, "the program's output is missing")
    expect(bool(re.search(r"global_load_sectors\s+8,192", shown)) and bool(re.search(r"global_store_sectors\s+8,192", shown)), "the counters")
    expect("ptxas failed" not in shown, "ptxas fails in the sandbox")
    expect("_Z5scale" not in shown, "a mangled name in the playground")
    expect((folder / "hello.cu").exists(), "the program's file isn't in the student's folder")
    page.look("play", pictures, origin)
    text = (folder / "hello.cu").read_text()
    image = "<svg onload=document.title=1><img src=x onerror=document.title=1>"
    page.eval(f"{SET}({json.dumps(text.replace('x[0] = %g', image))})")
    press(page, "s", 83, 2)
    page.wait(f"document.getElementById('result').innerText.includes({json.dumps(image)})", "markup in a program's output, as text")
    expect(page.eval("document.title") != "1" and page.eval("document.querySelectorAll('#result svg, img[src=x]').length") == 0, "markup in the output became an element")
    page.eval(f"{SET}({json.dumps(text.replace('if (i < n) ', '').replace('n / 256, 256', 'n / 256 + 1, 256'))})")
    page.click("Save and run")
    page.wait("[...document.querySelectorAll('.finding')].some(f => /out-of-bounds/.test(f.textContent))", "an access out of bounds, at its line")
    page.eval(f"{SET}({json.dumps(text.replace('int main() {', 'int main() { for (;;);'))})")
    page.click("Save and run")
    page.wait("/running/.test(document.getElementById('step').innerText)", "a program that never ends")
    page.wait("/last run's result/.test(document.getElementById('result').innerText)", "a mark at the former result")
    page.click("Stop")
    page.wait("/stopped/.test(document.querySelector('.notice').innerText)", "it is stopped")
    page.eval(f"{SET}({json.dumps(text + '// a draft' + chr(10))})")
    page.eval("location.hash = '#/'")
    page.wait("document.getElementById('find')", "the contents")
    page.eval("location.hash = '#/playground'")
    page.wait(f"document.querySelector('.play .CodeMirror, .play textarea') && {TEXT}.getValue().endsWith('// a draft\\n')", "the playground's draft after another view")
    page.click("Save")
    page.wait("document.querySelector('.notice').innerText == ''", "a saved draft")
    expect((folder / "hello.cu").read_text().endswith("// a draft\n"), "the playground's draft isn't saved")


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
        try:
            upstream = socket.create_connection(("127.0.0.1", port))
        except OSError:  # the server has ended; the page still tries to reach it
            return client.close()
        upstream.sendall(head)
        threading.Thread(target=pump, args=(client, upstream), daemon=True).start()
        pump(upstream, client)
        client.close()

    def accept():
        while True:
            threading.Thread(target=handle, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def nginx(folder, port, prefix):
    """Starts nginx in front of the server, if this machine has it; returns the process and its port."""
    program = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if not program:
        print("skipped: the workbench behind nginx, none is here (sh grader/setup.sh build pages)")
        return None, 0
    own = free_port()
    pathlib.Path(folder, "nginx.conf").write_text(f"""pid {folder}/nginx.pid; error_log stderr; daemon off; events {{}}
http {{ access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u;
scgi_temp_path {folder}/s; server {{ listen 127.0.0.1:{own}; location {prefix} {{
proxy_pass http://127.0.0.1:{port}/; proxy_http_version 1.1; proxy_set_header Host $http_host; proxy_set_header Connection ""; }} }} }}""")
    process = subprocess.Popen([program, "-p", folder, "-c", folder + "/nginx.conf"], stderr=subprocess.DEVNULL)
    for _ in range(100):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", own)) == 0:
                return process, own
        time.sleep(0.05)
    raise SystemExit("workbench: nginx does not start")


def jupyter(folder, base):
    """Starts a Jupyter server with jupyter-server-proxy, if Python has both; returns the process and its port."""
    if not all(importlib.util.find_spec(m) for m in ("jupyter_server", "jupyter_server_proxy")):
        print("skipped: the workbench behind jupyter-server-proxy (pip install jupyter-server-proxy)")
        return None, 0
    own = free_port()
    options = {"port": own, "port_retries": 0, "base_url": base, "open_browser": False, "allow_root": True, "root_dir": folder}
    arguments = [f"--ServerApp.{name}={value}" for name, value in options.items()]
    process = subprocess.Popen([sys.executable, "-m", "jupyter", "server", *arguments, "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True"],
                               env={**os.environ, "HOME": folder, "JUPYTER_PREFER_ENV_PATH": "1"}, stdout=subprocess.DEVNULL,
                               stderr=open(f"{folder}/jupyter.log", "w"))
    for _ in range(1200):  # a busy machine takes seconds to import it
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", own)) == 0:
                return process, own
        time.sleep(0.05)
    raise SystemExit("workbench: the Jupyter server does not start: " + pathlib.Path(folder, "jupyter.log").read_text()[-600:])


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
    page.wait("!/Not saved/.test(document.body.innerText)", "a save below a prefix")
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


def serve_everywhere(program, grader, pictures):
    """Uses the page from this machine, below a prefix, and behind the proxies that are here."""
    with tempfile.TemporaryDirectory() as top:
        environment = {**os.environ, "XDG_STATE_HOME": top + "/state"}

        def behind(process, name, arguments):
            pathlib.Path(top, "work/chapters", ID + ".cu").write_text(f"// behind {name}\n")
            try:
                serve(program, grader, top, environment, arguments, run_proxied, pictures)
            finally:
                process.terminate()

        subprocess.run([grader, "begin", top + "/work"], check=True, env=environment, stdout=subprocess.DEVNULL)
        serve(program, grader, top, environment, [], run, pictures)
        port, prefix = free_port(), "/user/ada/"
        serve(program, grader, top, environment, ["--listen", f"127.0.0.1:{port}", "--origin", f"http://127.0.0.1:{proxy(port, prefix)}{prefix}"],
              run_proxied, pictures)
        port = free_port()
        process, own = nginx(top, port, prefix)
        if process:
            behind(process, "nginx", ["--listen", f"127.0.0.1:{port}", "--origin", f"http://127.0.0.1:{own}{prefix}"])
        port = free_port()
        process, own = jupyter(top, prefix)
        if process:
            behind(process, "Jupyter", ["--listen", f"127.0.0.1:{port}", "--origin", f"http://127.0.0.1:{own}{prefix}proxy/{port}/"])


def main():
    program = next((p for p in map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome")) if p), None)
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if not program:
        print("skipped: the workbench in a browser, no Chromium is here (sh grader/setup.sh build pages)")
        return 0
    grader = os.path.abspath(sys.argv[1])
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    try:
        serve_everywhere(program, grader, pictures)
    finally:  # also what was found before it stopped
        for f in sorted(set(faults)):
            print(f"workbench: {f}")
    print(f"the workbench in a browser, {len(set(faults))} faults")
    return faults != []


if __name__ == "__main__":
    sys.exit(main())
