#!/usr/bin/env python3
"""Measures what a student waits for after a save: in the page of `grader serve` until the first feedback and until the result, beside
`grader run`, in turns on the same text.

    latency.py GRADER [RUNS]        RUNS: 7 by default; prints medians in seconds, with the range"""
import os, pathlib, shutil, statistics, subprocess, sys, tempfile, time
from workbench import ID, SET, Page, serve

VERDICT = "document.getElementById('verdict')?.textContent ?? ''"


def watch(page, expression):
    while not page.eval(f"!!({expression})"):
        time.sleep(0.01)


def measure(page, url, file, runs):
    times = {"first feedback in the page": [], "result in the page": [], "grader run": []}
    text = file.read_text()
    page.size(1280)
    page.goto(url)
    page.wait("document.querySelectorAll('table.contents a').length > 50", "the contents")
    page.eval(f"location.hash = '#/{ID}'")
    page.wait("document.querySelector('.CodeMirror, textarea')", "an editor")
    time.sleep(1)
    for i in range(-1, runs):  # the first one fills caches and doesn't count
        page.eval(f"{SET}({(text + f'// page {i}' + chr(10))!r})")
        page.eval("window.shown = document.querySelector('.result')")
        begin = time.monotonic()
        page.click("Save and grade")
        watch(page, "/grading|waits/.test(document.getElementById('step').textContent)")
        first = time.monotonic() - begin
        watch(page, f"document.getElementById('step').textContent == '' && document.querySelector('.result') && document.querySelector('.result') != window.shown && ({VERDICT}) && document.querySelector('#line svg')")
        result = time.monotonic() - begin
        file.with_name("run.cu").write_text(text + f"// run {i}\n")
        begin = time.monotonic()
        subprocess.run([GRADER, "run", ID, "--file", str(file.with_name("run.cu"))], cwd=file.parents[2], stdout=subprocess.DEVNULL)
        alone = time.monotonic() - begin
        if i >= 0:
            for name, seconds in zip(times, (first, result, alone)):
                times[name].append(seconds)
    for name, seconds in times.items():
        print(f"{name:28} {statistics.median(seconds):6.2f} s  ({min(seconds):.2f} to {max(seconds):.2f}, {len(seconds)} runs)")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    GRADER = os.path.abspath(sys.argv[1])
    program = shutil.which("chromium-headless-shell") or sys.exit("latency: no chromium-headless-shell is here")
    with tempfile.TemporaryDirectory() as top:
        environment = {**os.environ, "XDG_STATE_HOME": top + "/state"}
        os.environ.update(environment)
        subprocess.run([GRADER, "begin", top + "/work"], check=True, stdout=subprocess.DEVNULL)
        serve(program, GRADER, top, environment, [], lambda page, url, file, pictures: measure(page, url, file, int(sys.argv[2]) if len(sys.argv) > 2 else 7), None)
