#!/usr/bin/env python3
"""slides.py FOLDER — checks the decks that `make slides` wrote (`make check-book` runs it): no slide
loads a file, and in a Chromium, if there is one, no slide is larger than the screen of 800 x 600."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Shows every slide at once and writes the overfull ones into the page's title.
MEASURE = """<script>window.addEventListener('load', function () { setTimeout(function () {
var full = [];
document.querySelectorAll('section').forEach(function (slide, i) {
  slide.style.cssText += 'display:block';
  var box = slide.getBoundingClientRect(), scale = 600 / (box.height || 600), height = 0, width = 0;
  slide.querySelectorAll('*').forEach(function (part) {
    var r = part.getBoundingClientRect();
    height = Math.max(height, (r.bottom - box.top) * scale);
    width = Math.max(width, (r.right - box.left) * scale);
  });
  if (height > 601 || width > 801) full.push((i + 1) + ' (' + Math.round(width) + ' x ' + Math.round(height) + ')');
});
document.title = 'measured ' + document.querySelectorAll('section').length + ': ' + full.join(', ');
}, 300); });</script></body>"""


def measure(browser, path, folder):
    page = os.path.join(folder, "page.html")
    with open(page, "w", encoding="utf-8") as f:
        f.write(open(path, encoding="utf-8").read().replace("</body>", MEASURE))
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1000,750",
               "--virtual-time-budget=2000", "--dump-dom", "file://" + page]
    text = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    m = re.search(r"<title>measured (\d+): (.*?)</title>", text)
    return (int(m[1]), m[2]) if m else (0, "the browser shows no slide")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: slides.py FOLDER")
    decks, faults, slides = sorted(glob.glob(sys.argv[1] + "/*.html")), [], 0
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    for path in decks:
        loaded = re.findall(r'(?:src|href)="((?!data:|#)[^"]+)"', open(path, encoding="utf-8").read())
        faults += [f"{path}: loads {name}" for name in loaded]
    with tempfile.TemporaryDirectory() as folder:
        for path in decks if browser else []:
            count, full = measure(browser, path, folder)
            slides += count
            faults += [f"{path}: larger than the screen: {full}"] if full else []
    print("\n".join(faults + [f"{len(decks)} decks, {slides} slides measured, {len(faults)} faults"
                              if browser else "skipped: the size of slides, because there is no Chromium"]))
    sys.exit(1 if faults or not decks else 0)


if __name__ == "__main__":
    main()
