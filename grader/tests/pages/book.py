#!/usr/bin/env python3
"""book.py FOLDER — checks the printed book that `make book` wrote (`make check-book` runs it).

EPUB: epubcheck accepts it; without epubcheck, each file parses as XML and each reference leads to a
file. PDF: no word lies outside the text's width. Both: every heading of a lesson and every task is
in the contents, and every figure is there."""
import glob
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
import zipfile

MARGINS_PT = (19 * 72 / 25.4, 18 * 72 / 25.4)  # left and right, of print.css
SLACK_PT = 2  # a glyph's box may be wider than its ink
faults = []


def fault(*words):
    faults.append(" ".join(map(str, words)))


def output(*command):
    r = subprocess.run(command, capture_output=True, text=True)
    if r.returncode:
        fault(*command[:1], ":", (r.stdout + r.stderr)[-2000:])
    return r.stdout


def squeeze(text):
    """Without blanks, hyphens and markup, because a line may break anywhere."""
    return re.sub(r"[\s`*\u2010\u00ad-]", "", text)


def headings():
    """The headings of lessons, and those of tasks, as they are in the Markdown files."""
    for path in sorted(glob.glob("chapters/*/README.md")):
        code = False
        for line in open(path, encoding="utf-8"):
            code ^= line.startswith("```")
            if not code and re.match(r"##? ", line):
                yield line.lstrip("# ").strip()
        for test in glob.glob(os.path.dirname(path) + "/*_test.c"):
            yield open(test.replace("_test.c", ".md"), encoding="utf-8").readline().lstrip("# ").strip()


def check_epub(path):
    for command in (["epubcheck"], ["java", "-jar", "/usr/bin/epubcheck"]):
        if shutil.which(command[0]) and os.path.exists("/usr/bin/epubcheck"):
            try:
                r = subprocess.run(command + [path], capture_output=True, text=True)
            except OSError:
                continue  # the package is a jar, which only some kernels start
            if "EPUBCheck completed" in r.stdout + r.stderr:
                if r.returncode:
                    fault("epubcheck:", (r.stdout + r.stderr)[-2000:])
                break
    else:
        print("skipped: epubcheck is not installed")
    with zipfile.ZipFile(path) as z:
        names = set(z.namelist())
        for name in names:
            if name.endswith((".xhtml", ".opf", ".svg", ".ncx")):
                root = ET.fromstring(z.read(name))
                check_references(name, root, names)
        contents = squeeze("".join(ET.fromstring(z.read("EPUB/nav.xhtml")).itertext()))
        check_contents("EPUB", contents)
        figures = len([n for n in names if n.endswith(".svg")])
    expected = len(set(re.findall(r"!\[[^]]*\]\(([^)]+)\)", "".join(
        open(p, encoding="utf-8").read() for p in glob.glob("chapters/*/*.md")))))
    if figures < expected:
        fault("EPUB:", figures, "figures, the lessons have", expected)
    return figures


def check_references(name, root, names):
    for element in root.iter():
        for key, value in element.attrib.items():
            if key.split("}")[-1] not in ("href", "src") or re.match(r"[a-z]+:|#", value):
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(name), value.split("#")[0]))
            if target not in names:
                fault("EPUB:", name, "refers to", value, "which is missing")


def check_contents(where, contents):
    for heading in headings():
        if squeeze(heading) not in contents:
            fault(where + ": the contents lack", repr(heading))


def check_pdf(path):
    page, width, contents, last_contents_page = 0, 0, "", 0
    for line in output("pdftotext", "-bbox", path, "-").splitlines():
        if "<page" in line:
            page += 1
            width = float(re.search(r'width="([\d.]+)"', line)[1])
        m = re.search(r'xMin="([-\d.]+)".*xMax="([-\d.]+)".*>(.*)</word>', line)
        if m and (float(m[1]) < MARGINS_PT[0] - SLACK_PT or float(m[2]) > width - MARGINS_PT[1] + SLACK_PT):
            fault("PDF: page", page, "cuts or overflows at", repr(m[3]))
    pages = output("pdftotext", path, "-").split("\f")
    for n, text in enumerate(pages[:30]):
        if re.search(r"\.{10}|(\. ){10}", text):
            contents, last_contents_page = contents + text, n + 1
    check_contents("PDF", squeeze(contents))
    if not 50 < page < 1000 or not last_contents_page:
        fault("PDF:", page, "pages,", last_contents_page, "pages of contents")
    return page


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: book.py FOLDER")
    figures = check_epub(os.path.join(sys.argv[1], "warpbook.epub"))
    pages = check_pdf(os.path.join(sys.argv[1], "warpbook.pdf"))
    for f in faults:
        print("check-book:", f)
    print(f"{pages} pages, {figures} figures, {sum(1 for _ in headings())} headings: {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
