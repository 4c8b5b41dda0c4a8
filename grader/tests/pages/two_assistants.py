#!/usr/bin/env python3
"""make check-pages: two assistants decide in `grader serve --class` at the same time, each in a browser of their own. First each one
scores and comments on half of the class; then both score the same submissions at the same moment: one score must be in the store, and
the other assistant must read who decided.

    two_assistants.py GRADER [PICTURES]      PICTURES: a folder for screenshots"""
import json, os, pathlib, shutil, sqlite3, sys, tempfile, threading, time
from class_page import FIELD, SCORE, STUDENTS, make_class
from workbench import Page, expect, faults, serve

ASSISTANTS = {"Ada": "a" * 32, "Ben": "b" * 32}
CONTESTED = range(6)
ALERT = "document.querySelector('[role=alert]')?.textContent ?? ''"


def open_submission(page, student):
    page.eval(f"location.hash = '#/s{student:02}/02-coalescing%2Ftranspose'")
    page.wait(f"document.getElementById('bar')?.textContent.includes('s{student:02}') && document.getElementById('score')", f"s{student:02}")


def fill_score(page, score, reason):
    page.eval(f"{FIELD}('Score (', '{score}')")
    page.eval(f"{FIELD}('Reason', '{reason}')")


def decide_half(page, name, students):
    for i in students:
        open_submission(page, i)
        fill_score(page, 50 + i, f"seen by {name}")
        page.click("Set score")
        page.wait(f"/{50 + i} points/.test({SCORE})", f"{name}'s score of s{i:02}")
        page.eval(f"{FIELD}('Comment', 'from {name}')")
        page.eval("document.querySelectorAll('pre.numbered .n')[2].click()")
        page.click("Add comment")
        page.wait(f"[...document.querySelectorAll('.finding')].some(f => f.textContent == '{name}: from {name}')", f"{name}'s comment on s{i:02}")


def contest(page, name, start, outcome, score):
    for i in CONTESTED:
        open_submission(page, i)
        fill_score(page, score, f"decided by {name}")
        start.wait()
        page.click("Set score")
        page.wait(f"/{score} points/.test({SCORE}) || /decided this meanwhile/.test({ALERT})", f"an answer to {name} about s{i:02}")
        outcome[i, name] = page.eval(ALERT)
        start.wait()


def at_once(tasks):
    threads = [threading.Thread(target=t, args=a) for t, *a in tasks]
    [t.start() for t in threads], [t.join() for t in threads]


def check_store(store, outcome):
    rows = sqlite3.connect(store).execute("SELECT student, author, kind, line, value FROM decision ORDER BY n").fetchall()
    count = 2 * (STUDENTS - 1)
    first = sorted(("s%02d" % i, "Ada" if i % 2 else "Ben", kind) for i in range(STUDENTS - 1) for kind in ("score", "comment"))
    expect(sorted((r[0], r[1], r[2]) for r in rows[:count]) == first, "a decision about another submission is lost")
    for i in CONTESTED:
        last = [r for r in rows[count:] if r[0] == "s%02d" % i]
        refused = [n for n in ASSISTANTS if "meanwhile" in outcome[i, n]]
        expect(len(last) == 1 and len(refused) == 1 and last[0][1] != refused[0] and last[0][1] in outcome[i, refused[0]],
               f"s{i:02}: {json.dumps(last)} in the store, refused: {json.dumps([outcome[i, n] for n in ASSISTANTS])}")


def run(ada, url, file, pictures):
    origin, store = url.split("?")[0], file.parents[2] / "c.db"
    ben = Page(find_program())
    try:
        pages, outcome, start = {"Ada": ada, "Ben": ben}, {}, threading.Barrier(2, timeout=120)
        for name, page in pages.items():
            page.size(1280)
            page.goto(f"{origin}?token={ASSISTANTS[name]}")
            page.wait("document.querySelector('.filters')", f"the table for {name}")
        begin = time.time()
        at_once([(decide_half, pages[n], n, range(n == "Ada", STUDENTS - 1, 2)) for n in pages])
        print(f"{STUDENTS - 1} scores and comments by two assistants in {time.time() - begin:.1f} s")
        at_once([(contest, pages[n], n, start, outcome, 61 + k) for k, n in enumerate(pages)])
        check_store(store, outcome)
        for name, page in pages.items():
            page.picture(pictures / f"two-{name}.png") if pictures else None
    finally:
        ben.process.terminate()


def find_program():
    return next((p for p in map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome")) if p), None)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if not find_program():
        print("skipped: two assistants in a browser, no Chromium is here (sh grader/setup.sh build pages)")
        return 0
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as top:
        os.mkdir(top + "/work")
        make_class(os.path.abspath(sys.argv[1]), top)
        pathlib.Path(top, "work/tokens").write_text("".join(f"{t} decide {n}\n" for n, t in ASSISTANTS.items()))
        serve(find_program(), os.path.abspath(sys.argv[1]), top, os.environ, ["--class", "c.db", "--author", "Poe", "--tokens", "tokens"], run, pictures)
    for f in sorted(set(faults)):
        print(f"two assistants: {f}")
    print(f"two assistants at the same time, {len(set(faults))} faults")
    return faults != []


if __name__ == "__main__":
    sys.exit(main())
