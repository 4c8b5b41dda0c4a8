#!/usr/bin/env python3
"""make check-pages: drives `grader serve --class` in a real browser: the table, its filters, one submission, a score, a comment, and a
decision that somebody else made meanwhile. It also looks for errors and sideways scrolling at several widths.

    class_page.py GRADER [PICTURES]      PICTURES: a folder for screenshots

It needs what workbench.py needs. The results are rows that it inserts; the scores are known."""
import json, os, pathlib, shutil, sqlite3, subprocess, sys, tempfile
from workbench import Page, expect, faults, serve

NAMES = ("transpose", "particles")
STUDENTS = 24
FIELD = """((label, value) => { const f = [...document.querySelectorAll('label')].find(l => l.textContent.trim().startsWith(label)).querySelector('input, select');
f.value = value; f.dispatchEvent(new Event(f.tagName == 'SELECT' ? 'change' : 'input')); })"""
ROWS = "document.querySelectorAll('.scroll tr').length - 1"


def make_class(grader, top):
    """Student i has 4 i points in transpose and 100 in particles; the last one handed in nothing."""
    ids = [f"s{i:02}" for i in range(STUDENTS)]
    for i, s in enumerate(ids[:-1]):
        os.makedirs(f"{top}/c/{s}")
        for name in NAMES:
            pathlib.Path(top, "c", s, f"{name}.cu").write_text(f"// {name} of {i}\n<img src=x onerror=\"document.title=1\">\nint x;\n")
    pathlib.Path(top, "r.csv").write_text("id,name\n" + "".join(f"{s},Student {s}\n" for s in ids))
    store = f"{top}/work/c.db"
    subprocess.run([grader, "intake", f"{top}/c", "--roster", f"{top}/r.csv", "--store", store], stdout=subprocess.DEVNULL)
    db = sqlite3.connect(store)
    db.execute("INSERT INTO result (key, exercise, digest, file, seed, device, grader, nvcc, book, counted, jail, graded_at, seconds, verdict, score,"
               " max_score, reason, report, json) SELECT student || exercise, exercise, digest, file, 's', 'h200', 'g', 'n', 'b', 1, 'j', '2026', 1,"
               " CASE WHEN exercise LIKE '%particles' THEN 'AC' ELSE 'PART' END, CASE WHEN exercise LIKE '%particles' THEN 100 ELSE"
               " 4 * substr(student, 2) END, 100, 'a goal is missed', 'the report', '{}' FROM submission WHERE state = 'taken'")
    db.execute("UPDATE submission SET key = student || exercise WHERE state = 'taken'")
    db.commit()
    db.close()
    return store


def run(page, url, file, pictures):
    origin, store = url.split("?")[0], file.parents[2] / "c.db"
    grader = os.path.abspath(sys.argv[1])
    page.size(1280)
    page.goto(url)
    page.wait(f"{ROWS} == {STUDENTS}", "a row for each student")
    page.look("class", pictures, origin)

    # 80 points or more in one exercise and none in the other: the row stays with its one cell. 4 i >= 80 for 20, 21 and 22.
    page.eval(f"{FIELD}('Verdict', 'PART')")
    page.eval(f"{FIELD}('Score from', '80')")
    page.wait(f"{ROWS} == 3", "three students with 80 points or more")
    bars = page.eval("[...document.querySelectorAll('.distributions section')].map(s => [...s.querySelectorAll('.n')].map(n => +n.textContent).join()).join(' ')")
    expect(bars == "0,0,0,0,0,0,0,0,0,0 0,0,0,0,0,0,0,0,3,0", f"the distribution shows {bars}")
    page.eval(f"{FIELD}('Text', 's21')")
    page.wait(f"{ROWS} == 1", "one student of that id")
    page.eval("document.querySelector('td a').click()")

    page.wait("/PART, 84 points/.test(document.getElementById('score')?.textContent)", "the submission")
    expect(page.eval("document.title") != "1" and page.eval("document.querySelectorAll('img[src=x]').length") == 0, "markup in the source")
    page.eval(f"{FIELD}('Score (', '95')")
    page.eval(f"{FIELD}('Reason', 'another route')")
    page.click("Set score")
    page.wait("/95 points/.test(document.getElementById('score').textContent)", "the new score")
    page.eval(f"{FIELD}('Comment', 'use float4')")
    page.eval(f"{FIELD}('Line', '3')")
    page.click("Add comment")
    page.wait("[...document.querySelectorAll('.finding')].some(f => f.textContent == 'Poe: use float4')", "the comment at its line")
    page.look("submission", pictures, origin)

    # Somebody else decides while the page is open.
    subprocess.run([grader, "decide", store, "s21", "transpose", "--score", "60", "--author", "Roe", "--reason", "x"], check=True)
    page.eval(f"{FIELD}('Score (', '70')")
    page.eval(f"{FIELD}('Reason', 'again')")
    page.click("Set score")
    page.wait("/Roe decided this meanwhile/.test(document.querySelector('[role=alert]').textContent)", "a refusal that names Roe")
    page.events.clear()  # the refused request is an error of the console
    page.click("Load again")
    page.wait("/60 points/.test(document.getElementById('score').textContent)", "Roe's score")
    db = sqlite3.connect(store)
    rows = db.execute("SELECT author, kind, line, value, former FROM decision ORDER BY n").fetchall()
    expect(rows == [("Poe", "score", 0, "95.00", "PART, 84.00"), ("Poe", "comment", 3, "use float4", ""), ("Roe", "score", 0, "60.00", "95.00")],
           f"the history is {json.dumps(rows)}")


def main():
    program = next((p for p in map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome")) if p), None)
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if not program:
        print("skipped: the class page in a browser, no Chromium is here (sh grader/setup.sh build pages)")
        return 0
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as top:
        os.mkdir(top + "/work")
        make_class(os.path.abspath(sys.argv[1]), top)
        serve(program, os.path.abspath(sys.argv[1]), top, os.environ, ["--class", "c.db", "--author", "Poe"], run, pictures)
    for f in sorted(set(faults)):
        print(f"class page: {f}")
    print(f"the class page in a browser, {len(set(faults))} faults")
    return faults != []


if __name__ == "__main__":
    sys.exit(main())
