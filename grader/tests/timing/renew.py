#!/usr/bin/env python3
"""Renews every page that compares the time model with GPUs, from the model of today:

    docs/results/*/model.md, docs/results/*/bound-by.md      all exercises, both GPUs (measured.py, bound.py)
    docs/results/h100/holdout.tsv, holdout.md                the versions that no fit has seen (holdout.py)

    renew.py                models all versions, about 1250, and writes the pages: about an hour of two quiet cores
    renew.py --keep=DIR     keeps the modelled times in DIR/NAME.json, and takes those from there that exist

Then run ratios.py: grader/grade/ratio_error.def follows from these pages."""
import pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
TIMING = ROOT / "grader/tests/timing"
NAMES = {"h100": "H100", "h200": "H200"}


def run(*command):
    return subprocess.run([sys.executable, *map(str, command)], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def renew(device, folder):
    report = f"docs/results/{device}/report.json"
    kept = folder / f"{device}.json"
    source = f"--from={kept}" if kept.exists() else f"--json={kept}"
    table = run(TIMING / "measured.py", report, device, "--rows", source)
    (ROOT / f"docs/results/{device}/model.md").write_text(
        f"# The time model against the {NAMES[device]}, version by version\n\n"
        f"`python3 grader/tests/timing/renew.py` writes this page from the measured times of `make gpu-report` runs\n"
        f"(`report.json`). \"Before\" is what the model was when each exercise was measured, \"now\" what it is. From PTX, as in\n"
        f"grading.\n\n{table}")
    empty = folder / f"{device}-empty-caches.json"
    if not empty.exists(): run(TIMING / "measured.py", report, device, "--empty-caches", f"--json={empty}")
    run(ROOT / "grader/tests/gpu/bound.py", f"--model={empty}", f"--folder=docs/results/{device}")
    print(f"docs/results/{device}: model.md, bound-by.md")


def main():
    if "--help" in sys.argv: return print(__doc__)
    keep = next((a.split("=", 1)[1] for a in sys.argv[1:] if a.startswith("--keep=")), None)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(keep or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for device in NAMES: renew(device, folder)
    if (ROOT / "docs/results/h100/holdout.tsv").exists():
        run(TIMING / "holdout.py", "--model")
        print("docs/results/h100: holdout.tsv, holdout.md")


if __name__ == "__main__":
    main()
