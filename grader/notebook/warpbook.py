"""Grades exercises of Warpbook in a notebook, in Jupyter or Colab.

    %load_ext warpbook                  if this file is in a folder of sys.path; else: %run path/to/warpbook.py
    %%warpbook transpose                the cell is the exercise's .cu; the options of `grader run` follow the name
    %warpbook_show transpose            puts the starter file, or your last version, into a new cell

It needs no package beyond IPython. WARPBOOK_GRADER names the program `grader`; without it, the file looks beside itself (a source
tree), then in PATH. The cell is written to chapters/…/NAME.cu of the workspace in the current folder, or to a workspace in ./warpbook,
which the first cell creates."""
import html, json, os, pathlib, shlex, shutil, subprocess, tempfile

HERE = pathlib.Path(__file__).resolve().parent if "__file__" in globals() else pathlib.Path.cwd()


class Failure(Exception):
    """The grader could not grade; the text says why."""


def grader():
    """Returns the path of the program `grader`."""
    named = os.environ.get("WARPBOOK_GRADER")
    found = named or next((str(p) for p in [HERE.parents[1] / "build" / "grader"] if p.exists()), None) or shutil.which("grader")
    if not found:
        raise Failure("there is no grader: run `make` in Warpbook's folder, or set WARPBOOK_GRADER to the program")
    return found


def workspace():
    """Returns the folder of the workspace; creates one in ./warpbook if there is none."""
    here = pathlib.Path.cwd()
    for folder in [here, *here.parents, here / "warpbook"]:
        if (folder / ".warpbook").exists():
            return folder
    run("begin", str(here / "warpbook"), cwd=here)
    return here / "warpbook"


def run(*arguments, cwd=None):
    """Runs a command of the grader; returns its status and its output. A usage error, or a failure of the grader, raises Failure."""
    done = subprocess.run([grader(), *arguments], cwd=cwd or workspace(), capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise Failure((done.stderr or done.stdout).strip())
    return done.returncode, done.stdout


def exercise(name):
    """Returns the path of the exercise's file in the workspace."""
    found = [p for p in (workspace() / "chapters").glob("*/*.cu")
             if name in (p.stem, f"{p.parent.name}/{p.stem}", f"{p.parent.name[3:]}/{p.stem}")]
    if len(found) != 1:
        raise Failure(f"{name}: {'there is no such exercise' if not found else 'name its chapter, too'}; `!grader list` shows them all")
    return found[0]


def grade(name, text, options=()):
    """Writes the text to the exercise's file and grades it; returns the result (docs/json.md) and the report as a page."""
    path = exercise(name)
    path.write_text(text)
    identifier = f"{path.parent.name}/{path.stem}"
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "report.html")
        result = json.loads(run("run", identifier, "--format", "json", *options)[1])
        run("report", identifier, "--output", str(page), *options)
        return result["exercises"][0], page.read_text()


def summary(result):
    """Returns verdict, points, time and the points lost as lines of text."""
    score = "no score" if result["score"] is None else f"{result['score']:.1f} of {result['max_score']:.0f} points"
    lines = [f"{result['verdict']}  {score}"]
    if speed := result.get("speed"):
        lines.append(f"{speed['student_us']:.1f} us {speed['kind']}; model solution {speed['solution_us']:.1f} us")
    if result["log"] and result["verdict"] == "CE":
        lines.append(result["log"].strip())
    lines += [f"{case['verdict']}  {case['name']}: {case['message'].splitlines()[0]}" for case in result["cases"]
              if case["verdict"] != "AC" and case["message"]][:3]
    lines += [f"-{lost['points']:.1f}  {lost['reason']}" for lost in result.get("points_lost", [])]
    return "\n".join(lines)


class Report:
    """A result: text on a terminal, the whole report in a notebook. The page is in a frame without scripts."""

    def __init__(self, result, page):
        self.result, self.page = result, page

    def __repr__(self):
        return summary(self.result)

    def _repr_html_(self):
        return (f"<pre>{html.escape(summary(self.result))}</pre><iframe sandbox srcdoc=\"{html.escape(self.page)}\" title=\"report\" "
                "style=\"width:100%;height:40em;border:1px solid #888\"></iframe>")


def magic(line, cell):
    name, *options = shlex.split(line) or [""]
    if not name:
        raise Failure("name an exercise: %%warpbook transpose")
    return Report(*grade(name, cell, options))


def show(line):
    name = line.strip()
    from IPython import get_ipython
    get_ipython().set_next_input(f"%%warpbook {name}\n{exercise(name).read_text()}")


def load_ipython_extension(ipython):
    ipython.register_magic_function(quiet(magic), "cell", "warpbook")
    ipython.register_magic_function(quiet(show), "line", "warpbook_show")


def quiet(function):
    """Shows a Failure as one line, not as a stack of calls."""
    def call(*arguments):
        try:
            return function(*arguments)
        except Failure as failure:
            print(f"warpbook: {failure}")
            return None
    return call


try:
    from IPython import get_ipython
    if __name__ == "__main__" and get_ipython():
        load_ipython_extension(get_ipython())  # %run
except ImportError:
    pass
