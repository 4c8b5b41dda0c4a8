#!/usr/bin/env python3
"""make check-pages: drives `grader serve --class` in a real browser: the table with totals, its filters, one submission, a score, a
comment, a decision that somebody else made meanwhile, a request and its answer, moderation, a pair of similar submissions, and a
student's page. It also looks for errors and sideways scrolling at several widths, and runs axe-core.

    class_page.py GRADER [PICTURES]      PICTURES: a folder for screenshots

It needs what workbench.py needs. The results are rows that it inserts; the scores are known."""
import json, os, pathlib, shutil, sqlite3, subprocess, sys, tempfile
from workbench import Page, expect, faults, serve

NAMES = ("transpose", "particles")
STUDENT_TOKEN = "0123456789abcdef" * 2
SCORE = "document.getElementById('score').textContent"
STUDENTS = 24
FIELD = """((label, value) => { const f = [...document.querySelectorAll('label')].find(l => l.textContent.trim().startsWith(label)).querySelector('input, select');
f.value = value; f.dispatchEvent(new Event(f.tagName == 'SELECT' ? 'change' : 'input')); })"""
ROWS = "document.querySelectorAll('.scroll tr').length - 1"


# Both have the same kernel, which is not the book's, behind a different first line.
KERNEL = """__global__ void tile(float *out, const float *in, int n) {
    __shared__ float s[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32 && y + k < n; k += 8) s[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x] * 2.0f + 1.0f;
    __syncthreads();
    for (int k = 24; k >= 0; k -= 8) if (x + k > 3 && n - y > k) out[(x + k) * n + y] = s[threadIdx.x][threadIdx.y + k] - 0.5f;
}
extern "C" void transpose(float *out, const float *in, int rows, int cols) {
    dim3 grid((cols + 31) / 32, (rows + 31) / 32), block(32, 8);
    if (rows > 0 && cols > 0) tile<<<grid, block>>>(out, in, rows < cols ? cols : rows);
}
"""
COPIERS = (4, 9)


def make_class(grader, top):
    """Student i has 4 i points in transpose and 100 in particles; the last one handed in nothing. s21 was a day late."""
    ids = [f"s{i:02}" for i in range(STUDENTS)]
    for i, s in enumerate(ids[:-1]):
        os.makedirs(f"{top}/c/{s}")
        for name in NAMES:
            pathlib.Path(top, "c", s, f"{name}.cu").write_text(f"// {name} of {i}\n<img src=x onerror=\"document.title=1\">\nint x;\n")
        if i in COPIERS:
            pathlib.Path(top, "c", s, "transpose.cu").write_text(f"// by {s}\n" + KERNEL.replace("tile", f"tile_{s}"))
    late = {"s21": "2026-10-02T11:00:00Z"}
    pathlib.Path(top, "r.csv").write_text("id,name,submitted_at\n" +
                                          "".join(f"{s},Student {s},{late.get(s, '2026-10-01T11:00:00Z')}\n" for s in ids))
    pathlib.Path(top, "hw.toml").write_text('name = "HW"\nroster = "r.csv"\ndeadline = 2026-10-01T12:00:00Z\n[late]\npenalty = 10\n'
                                            'most_days = 5\n[[exercise]]\nname = "transpose"\nweight = 3\n[[exercise]]\nname = "particles"\n')
    store = f"{top}/work/c.db"
    subprocess.run([grader, "intake", f"{top}/c", "--assignment", f"{top}/hw.toml", "--store", store], stdout=subprocess.DEVNULL)
    os.makedirs(f"{top}/y/old7")
    pathlib.Path(top, "y/old7/transpose.cu").write_text("\n\n" + KERNEL)
    subprocess.run([grader, "intake", f"{top}/y", "--exercise", "transpose", "--store", f"{top}/work/earlier.db"], stdout=subprocess.DEVNULL)
    pathlib.Path(top, "work/tokens").write_text(f"{STUDENT_TOKEN} student s21\n")
    os.chmod(f"{top}/work/tokens", 0o600)
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
    # One day late at 10 %: 84 counts as 75.6. The total is (3 * 75.6 + 90) / 4.
    mark = page.eval("document.getElementById('mark').textContent")
    expect(mark == "1 day late: 90 % of the score counts; mark 75.6 %; weight 3; total 79.2 %", f"the mark is shown as {mark}")
    expect(page.eval("document.title") != "1" and page.eval("document.querySelectorAll('img[src=x]').length") == 0, "markup in the source")
    page.eval(f"{FIELD}('Score (', '95')")
    page.eval(f"{FIELD}('Reason', 'another route')")
    page.click("Set score")
    page.wait("/95 points/.test(document.getElementById('score').textContent)", "the new score")
    page.eval(f"{FIELD}('Comment', 'use float4')")
    page.eval("document.querySelectorAll('pre.numbered .n')[2].click()")  # the third line
    page.click("Add comment")
    page.wait("[...document.querySelectorAll('.finding')].some(f => f.textContent == 'Poe: use float4')", "the comment at its line")
    page.look("submission", pictures, origin)
    page.size(1280)
    expect(page.eval("[...document.querySelectorAll('th')].find(t => t.textContent == 'Reason').getBoundingClientRect().right <= innerWidth"),
           "the history's reasons are cut off at 1280")

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

    # A request, with its answer and a new score.
    subprocess.run([grader, "decide", store, "s21", "transpose", "--request", "line 3 <b>is</b> right", "--author", "s21"], check=True)
    page.eval("location.hash = '#/'")
    page.wait("document.querySelector('.filters')", "the table")
    page.eval(f"{FIELD}('Score from', '')")
    page.eval(f"{FIELD}('Verdict', '')")
    page.eval(f"{FIELD}('Text', '')")
    page.wait(f"{ROWS} == {STUDENTS}", "all students again")
    page.eval("[...document.querySelectorAll('label')].find(l => l.textContent.includes('Open requests (1)')).querySelector('input').click()")
    page.wait(f"{ROWS} == 1", "the student with a request")
    page.eval("[...document.querySelectorAll('td a')].find(a => a.closest('td').textContent.includes('(request)')).click()")
    page.wait("document.querySelector('.request')?.textContent.includes('line 3 <b>is</b> right')", "the request's text")
    page.eval(f"{FIELD}('Answer', 'granted')")
    page.eval(f"{FIELD}('New score', '88')")
    page.click("Answer the request")
    page.wait(f"/88 points/.test({SCORE}) && document.querySelector('.request').textContent.includes('Poe answers')", "the answer and the score")
    page.look("request", pictures, origin)

    # Moderation: Ada has scored s20 blind, then Poe does, and Roe decides.
    decide = lambda author, *what: subprocess.run([grader, "decide", store, "s20", "transpose", *what, "--author", author, "--reason", "x"], check=True)
    decide("Roe", "--moderated", "yes"), decide("Ada", "--blind-score", "61.5")
    page.eval("location.hash = '#/'")
    page.wait("document.querySelector('.filters')", "the table")
    page.eval("[...document.querySelectorAll('label')].find(l => l.textContent.includes('Open requests (0)')).querySelector('input').click()")
    page.eval("[...document.querySelectorAll('label')].find(l => l.textContent.includes('for you to score (1)')).querySelector('input').click()")
    page.wait(f"{ROWS} == 1", "the student in moderation")
    page.eval("[...document.querySelectorAll('td a')].find(a => a.textContent == 'in moderation').click()")
    page.wait("/in moderation, no score/.test(document.getElementById('score')?.textContent)", "the submission in moderation")
    expect(page.eval("!/61[.]5|Ada/.test(document.body.textContent)"), "Ada's blind score is shown")
    page.look("moderation", pictures, origin)
    page.eval(f"{FIELD}('Blind score', '70')")
    page.eval(f"{FIELD}('Reason', 'slow')")
    page.click("Score blind")
    page.wait("/two blind scores differ/.test(document.body.textContent) && /Ada/.test(document.body.textContent)", "both blind scores")
    expect(page.eval("![...document.querySelectorAll('button')].some(b => b.textContent == 'Set score')"), "Poe may decide after a blind score")
    decide("Roe", "--score", "65")
    page.click("Load again")
    page.wait(f"/65 points/.test({SCORE})", "Roe's decision")

    # A pair that shares a kernel under other names.
    page.eval("location.hash = '#similar'")
    page.wait("document.querySelector('select')?.value", "the exercises")
    page.eval(f"{FIELD}('Exercise', '02-coalescing/transpose')")
    page.wait("[...document.querySelectorAll('td a')].some(a => a.textContent == 's04 and s09')", "the pair")
    found = page.eval("[...document.querySelectorAll('td a')].map(a => a.textContent).sort().join('; ')")
    expect(found == "s04 and earlier.db: old7; s04 and s09; s09 and earlier.db: old7", f"the pairs are {found}")
    page.look("similar", pictures, origin)
    page.eval("[...document.querySelectorAll('td a')].find(a => a.textContent == 's09 and earlier.db: old7').click()")
    page.wait("document.querySelectorAll('pre.compared').length == 2", "a pair with an earlier year")
    expect(page.eval("[...document.querySelectorAll('.sides h2')].map(h => h.textContent + h.querySelectorAll('a').length).join()")
           == "s09 transpose.cu1,earlier.db: old7 transpose.cu0", "the earlier year's student is a link, or this year's is none")
    page.look("earlier", pictures, origin)
    page.eval("location.hash = '#similar/02-coalescing%2Ftranspose/s04/s09'")
    page.wait("/s04 and s09/.test(document.getElementById('bar').textContent)", "the pair of this class")
    marked = page.eval("[...document.querySelectorAll('pre.compared')].map(p => [...p.children].map((c, i) => c.classList.contains('passage') ? i + 1 : 0)"
                       ".filter(Boolean)).map(l => [l[0], l.at(-1), l.length].join()).join(' ')")
    expect(page.eval("[...document.querySelectorAll('pre.compared')].every(p => [...p.children].every((c, i) => !i ||"
                     " (Math.abs(c.offsetTop - p.children[i - 1].offsetTop - c.offsetHeight) < 2 && c.offsetHeight < 30)))"),
           "the lines of a source are not one below the other")
    expect(marked == "2,12,11 2,12,11", f"the marked lines are {marked}")
    page.look("pair", pictures, origin)

    # The same browser with a student's token: one row, no decisions, a request.
    page.goto(f"{origin}?token={STUDENT_TOKEN}")
    page.wait(f"{ROWS} == 1", "the student's own row")
    expect(page.eval("!document.body.textContent.includes('Similar')"), "a student sees the similar submissions")
    page.eval("document.querySelector('td a').click()")
    page.wait("document.getElementById('score')", "the student's submission")
    expect(page.eval("![...document.querySelectorAll('button')].some(b => b.textContent == 'Set score')"), "a student may decide")
    page.eval(f"{FIELD}('Why', 'please look')")
    page.click("Ask")
    page.wait("[...document.querySelectorAll('.request')].some(r => r.textContent.includes('please look'))", "the student's request")
    page.look("student", pictures, origin)
    page.goto(f"{origin}#similar")
    page.wait("/your role sees only your own/.test(document.querySelector('[role=alert]')?.textContent)", "a refusal of the pairs")
    page.events.clear()


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
        serve(program, os.path.abspath(sys.argv[1]), top, os.environ, ["--class", "c.db", "--author", "Poe", "--tokens", "tokens", "--against", "earlier.db"], run, pictures)
    for f in sorted(set(faults)):
        print(f"class page: {f}")
    print(f"the class page in a browser, {len(set(faults))} faults")
    return faults != []


if __name__ == "__main__":
    sys.exit(main())
