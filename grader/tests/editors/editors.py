#!/usr/bin/env python3
"""make check-editors: checks the files with which `grader begin` sets editors up, and the notebook, with the tools that read them.

    editors.py GRADER

JSON is parsed, the problem matcher is applied by node to real messages, clangd checks starter files, nbclient runs cells in a real
kernel, without a GPU too, and the schema of dev containers reads theirs. What is missing is skipped: node, clangd, the Python packages
nbclient, ipykernel and jsonschema, and the schema."""
import importlib.util, json, os, pathlib, re, shutil, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
STARTERS = ("02-coalescing/transpose", "05-atomics-reduction/sum_reduce", "13-async/overlap")
MATCH = """const [pattern, text] = JSON.parse(require('fs').readFileSync(0));
console.log(JSON.stringify(text.split('\\n').map(l => new RegExp(pattern).exec(l)).filter(Boolean).map(m => m.slice(1))));"""
faults = []


def expect(condition, what):
    if not condition:
        faults.append(what)


def check_json(work):
    """Every file parses, and refers to tasks and programs that exist."""
    tasks = json.loads((work / ".vscode/tasks.json").read_text())["tasks"]
    launch = json.loads((work / ".vscode/launch.json").read_text())["configurations"]
    json.loads((work / ".vscode/extensions.json").read_text())
    labels = {t["label"] for t in tasks}
    expect(all(c["preLaunchTask"] in labels for c in launch), "launch.json names a task that tasks.json lacks")
    for t in tasks:
        expect(shutil.which(t["command"]) is not None, f"the task `{t['label']}` runs {t['command']}, which is not there")
        expect("@" not in json.dumps(t), f"a placeholder in the task `{t['label']}`")
    return next(t["problemMatcher"]["pattern"] for t in tasks if isinstance(t["problemMatcher"], dict))


def check_matcher(work, grader, environment, pattern):
    """The grader's first line and nvcc's errors become marks at file, line and severity."""
    if not shutil.which("node"):
        return print("skipped: the problem matcher, no node is here")
    file = work / "chapters" / (STARTERS[0] + ".cu")
    good, output = file.read_text(), ""
    for text in (good.replace("int col =", "int col = nothing +", 1), good + "// edited\n"):
        file.write_text(text)
        output += subprocess.run([grader, "run", "transpose"], cwd=work, env=environment, capture_output=True, text=True).stdout
    file.write_text(good)
    found = json.loads(subprocess.run(["node", "-e", MATCH], input=json.dumps([pattern["regexp"], output]), capture_output=True, text=True, check=True).stdout)
    at = {name: pattern[name] - 1 for name in ("file", "line", "severity", "message")}
    marks = [(m[at["file"]], m[at["line"]], m[at["severity"]], m[at["message"]]) for m in found]
    expect(any(m[:3] == ("transpose.cu", "4", "error") and "nothing" in m[3] for m in marks), f"no mark for nvcc's error in line 4: {marks}")
    expect(any(m[:2] == ("transpose.cu", "7") and "goal not reached" in m[3] for m in marks), f"no mark for the goal in line 7: {marks}")


def check_clangd(work):
    program = next((p for p in map(shutil.which, ("clangd", "clangd-19", "clangd-14")) if p), None)
    if not program:
        return print("skipped: clangd, none is here")
    for name in STARTERS:
        done = subprocess.run([program, f"--check=chapters/{name}.cu", "--enable-config"], cwd=work, capture_output=True, text=True)
        errors = [line for line in done.stderr.splitlines() if line.startswith("E[")]
        expect("All checks completed, 0 errors" in done.stderr, f"clangd: {name}: {errors[:3]}")


def check_begin_again(work, grader, environment):
    """Your own settings stay."""
    settings = work / ".vscode/tasks.json"
    settings.write_text("{}")
    subprocess.run([grader, "begin", str(work)], env=environment, check=True, stdout=subprocess.DEVNULL)
    expect(settings.read_text() == "{}", "begin replaced a changed tasks.json")


def check_notebook(top, grader, environment):
    """The magic grades a cell; a wrong cell gets its line; a name that isn't an exercise gets one line."""
    if not all(importlib.util.find_spec(m) for m in ("nbclient", "ipykernel", "nbformat")):
        return print("skipped: notebooks (pip install nbclient ipykernel)")
    import nbclient, nbformat
    cells = nbformat.read(ROOT / "grader/notebook/colab.ipynb", as_version=4).cells
    nbformat.validate(nbformat.read(ROOT / "grader/notebook/colab.ipynb", as_version=4))
    magic = next(c for c in cells if c.source.startswith("%%warpbook transpose"))
    measured = magic.source.replace("$DEVICE", "--device gpu", 1)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in (
        f"import sys; sys.path.insert(0, {str(ROOT / 'grader/notebook')!r})\n%load_ext warpbook\nDEVICE = ''",
        magic.source + "\n// in a notebook\n", magic.source.replace("int col =", "int col = nothing +", 1), "%%warpbook no_such_exercise\nint x;", measured)])
    os.environ.update(environment, WARPBOOK_GRADER=grader)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3", resources={"metadata": {"path": top}}).execute()
    graded, broken, unknown, on_gpu = (c.outputs for c in book.cells[1:])
    page = graded[0]["data"].get("text/html", "") if graded else ""
    expect(page.startswith("<pre>PART") and "<iframe sandbox srcdoc=" in page, f"no report in the notebook: {page[:200]}")
    expect("goal not reached: writes are coalesced" in page, "the report in the notebook lacks the missed goal")
    expect("CE" in broken[0]["data"]["text/plain"] and "nothing" in broken[0]["data"]["text/plain"], "no compile error in the notebook")
    expect("there is no such exercise" in unknown[0].get("text", ""), f"an unknown exercise: {unknown}")
    if not shutil.which("nvidia-smi"):
        expect("no GPU" in on_gpu[0].get("text", "") and "--device sim" in on_gpu[0]["text"], f"--device gpu without a GPU: {on_gpu}")
    check_whole_notebook(top)


def check_whole_notebook(top):
    """The notebook for Colab runs from its first to its last cell, with or without a GPU, and its exercise has a result."""
    import nbclient, nbformat
    book = nbformat.read(ROOT / "grader/notebook/colab.ipynb", as_version=4)
    folder = pathlib.Path(top, "colab")
    folder.mkdir()
    del os.environ["WARPBOOK_GRADER"]
    os.environ["WARPBOOK"] = str(ROOT)
    nbclient.NotebookClient(book, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    shown = [str(output.get("data", {}).get("text/plain", "")) for c in book.cells if c.cell_type == "code" for output in c.outputs]
    expect(any(text.startswith("PART") for text in shown), f"no result in the notebook for Colab: {shown}")


def check_container():
    """Dev containers' own schema accepts the container's file; SCHEMA names it (schemas/devContainer.base.schema.json of devcontainers/spec)."""
    container = json.loads(re.sub(r"^//.*$", "", (ROOT / ".devcontainer/devcontainer.json").read_text(), flags=re.M))
    schema = os.environ.get("SCHEMA")
    if not schema or not importlib.util.find_spec("jsonschema"):
        return print("skipped: the dev container's schema (SCHEMA=FILE; pip install jsonschema)")
    import jsonschema
    for fault in jsonschema.Draft201909Validator(json.loads(pathlib.Path(schema).read_text())).iter_errors(container):
        faults.append(f"devcontainer.json: {'/'.join(map(str, fault.path))}: {fault.message[:200]}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    grader = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as top:
        environment = {**os.environ, "XDG_STATE_HOME": top + "/state"}
        work = pathlib.Path(top, "work")
        subprocess.run([grader, "begin", str(work)], env=environment, check=True, stdout=subprocess.DEVNULL)
        check_matcher(work, grader, environment, check_json(work))
        check_clangd(work)
        check_begin_again(work, grader, environment)
        check_notebook(top, grader, environment)
    check_container()
    for f in faults:
        print(f"editors: {f}")
    print(f"editors and notebooks, {len(faults)} faults")
    return faults != []


if __name__ == "__main__":
    sys.exit(main())
