#!/usr/bin/env python3
"""book.py FOLDER [DATE] — writes the book as warpbook.pdf and warpbook.epub; `make book` runs it.

pandoc parses the Markdown files. This script joins them into one document: it moves tasks below
their lesson, leads links to the place inside the book, and adds an index of the glossary's terms.
Then pandoc writes the EPUB and an HTML page, which weasyprint lays out as a PDF. A link to a file
that the book doesn't contain becomes plain text; a link to a place that no file has is an error.
"""
import glob
import json
import os
import posixpath
import re
import subprocess
import sys
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
BEFORE = ["docs/student-guide.md"]
GLOSSARY = "docs/glossary.md"
AFTER = ["docs/counters.md", GLOSSARY, "docs/sources.md"]
TEXT_WIDTH_PT = 490  # of the page in print.css
CODE_PT, CODE_ADVANCE = 8.0, 0.602  # DejaVu Sans Mono: its advance as a share of its size
LINE_CHARACTERS = 100  # of a table's row on one line
WIDE_TABLE = 6  # columns, from which a table is set smaller


def run(command, text=None):
    """Returns the program's output; its messages end the script, because each one is a fault."""
    r = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT)
    messages = [m for m in r.stderr.splitlines() if not re.search(r"INFO|This document format", m)]
    if r.returncode or messages:
        sys.exit(f"book: {command[0]}: " + "\n".join(messages or [f"exit status {r.returncode}"]))
    return r.stdout


def part_id(source):
    return source[:-3].replace("/", "-").replace("chapters-", "").lower()


def walk(node, change):
    """Replaces each inline and block by what `change` returns: a node, a list, or None to keep."""
    if isinstance(node, list):
        out = []
        for item in node:
            new = change(item) if isinstance(item, dict) and "t" in item else None
            if new is None:
                new = walk(item, change)
            if isinstance(new, list) and isinstance(item, dict):
                out += new
            else:
                out.append(new)
        return out
    if isinstance(node, dict):
        return {k: walk(v, change) if isinstance(v, (dict, list)) else v for k, v in node.items()}
    return node


def plain(node):
    """Returns the text of a node without markup."""
    out = []

    def collect(n):
        if n["t"] in ("Str", "Code", "CodeBlock"):
            out.append(n["c"] if isinstance(n["c"], str) else n["c"][1])
        elif n["t"] in ("Space", "SoftBreak", "LineBreak"):
            out.append(" ")

    walk([node] if isinstance(node, dict) else node, collect)
    return "".join(out)


def text(s):
    return {"t": "Str", "c": s}


def link(inlines, target, css=""):
    return {"t": "Link", "c": [["", [css] if css else [], []], inlines, [target, ""]]}


def span(identifier, inlines=()):
    return {"t": "Span", "c": [[identifier, [], []], list(inlines)]}


def column_widths(table):
    """Returns the table's columns. If a row is too long for a line, each column gets a share by its
    longest word and its longest cell, because weasyprint would give all to the longest word."""
    rows = [row for part in [table[3][1]] + [r for b in table[4] for r in b[2:]] for row in part]
    cells = [[plain(cell[4]) for cell in row[1]] for row in rows]
    longest = [max(map(len, column)) for column in zip(*cells)]
    words = [max(len(w) for cell in column for w in cell.split(" ")) for column in zip(*cells)]
    if sum(longest) < LINE_CHARACTERS:
        return [[align, {"t": "ColWidthDefault"}] for align, _ in table[2]]
    weights = [max(word + 2, min(cell, 70) * 0.6 + 4) for cell, word in zip(longest, words)]
    return [[align, {"t": "ColWidth", "c": round(weight / sum(weights), 3)}]
            for (align, _), weight in zip(table[2], weights)]


class Book:
    def __init__(self, folder):
        self.folder = folder
        self.ids = set()      # every place that a link may lead to
        self.marks = []       # (term, id, chapter): where the index points
        self.faults = []
        lessons = sorted(glob.glob("chapters/*/README.md", root_dir=ROOT))
        self.sources = list(BEFORE)
        self.level = dict.fromkeys(BEFORE + AFTER + lessons, 1)
        self.task_of = {}
        for lesson in lessons:
            self.sources.append(lesson)
            for test in sorted(glob.glob(f"{os.path.dirname(lesson)}/*_test.c", root_dir=ROOT)):
                task = test.replace("_test.c", ".md")
                self.sources.append(task)
                self.level[task] = 2
                self.task_of[os.path.basename(task)[:-3]] = task
        self.sources += AFTER

    # ---- pictures ----

    def picture(self, source, url):
        """Writes the picture in the light colours, without CSS variables and the shorthand
        `font`, which readers of EPUB and weasyprint don't know; returns its path."""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), url))
        if not os.path.exists(os.path.join(ROOT, path)):
            self.faults.append(f"{source}: no picture {url}")
            return url
        svg = open(os.path.join(ROOT, path), encoding="utf-8").read()
        svg = re.sub(r"@media\(prefers-color-scheme:dark\)\{:root\{[^}]*\}\}", "", svg)
        colours = dict(re.findall(r"(--[a-z0-9]+):([^;}]+)", svg))
        svg = re.sub(r":root\{[^}]*\}", "", svg)
        svg = re.sub(r"var\((--[a-z0-9]+)\)", lambda m: colours[m[1]], svg)
        svg = svg.replace("system-ui,sans-serif", "'Liberation Sans',sans-serif")
        svg = re.sub(r"\bfont:(\d+px) ([^};]+)", r"font-size:\1;font-family:\2", svg)
        out = os.path.join(self.folder, path.replace("/", "-"))
        with open(out, "w", encoding="utf-8") as f:
            f.write(svg)
        return out

    # ---- one file ----

    def target(self, source, url):
        """Returns the place inside the book that a link leads to; None if it leads elsewhere."""
        if re.match(r"[a-z]+:", url):
            return url
        path, _, anchor = url.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path)) if path else source
        if path not in self.level:
            return None
        return "#" + part_id(path) + ("--" + anchor if anchor else "")

    def change(self, source, node):
        kind, c = node["t"], node.get("c")
        if kind in ("RawBlock", "RawInline"):
            return []
        if kind == "Header":
            shift = self.level[source] - 1
            identifier = part_id(source) + ("" if c[0] == 1 else "--" + c[1][0])
            self.ids.add("#" + identifier)
            return {"t": "Header", "c": [c[0] + shift, [identifier, [], []], walk(c[2], lambda n: self.change(source, n))]}
        if kind == "Image":
            return {"t": "Image", "c": [c[0], c[1], [self.picture(source, c[2][0]), ""]]}
        if kind == "Link":
            inlines, target = walk(c[1], lambda n: self.change(source, n)), self.target(source, c[2][0])
            if target is None:
                return inlines
            new = link(inlines, target)
            if target.startswith("#" + part_id(GLOSSARY) + "--") and source not in AFTER:
                return self.mark(target.split("--", 1)[1], [new])
            return new
        if kind == "Code" and c[1] in self.task_of and self.task_of[c[1]] != source:
            return link([node], "#" + part_id(self.task_of[c[1]]))
        if kind == "CodeBlock":
            columns = max(len(line) for line in c[1].split("\n"))
            size = min(CODE_PT, TEXT_WIDTH_PT / CODE_ADVANCE / max(columns, 1))
            style = [["style", f"font-size:{size:.2f}pt"]] if size < CODE_PT else []
            return {"t": "CodeBlock", "c": [["", [], style], c[1]]}
        if kind == "Table":
            css, columns = ["wide"] if len(c[2]) > WIDE_TABLE else [], column_widths(c)
            css += ["fixed"] if columns[0][1]["t"] == "ColWidth" else []
            rest = walk(c[3:], lambda n: self.change(source, n))
            return {"t": "Table", "c": [["", css, []], c[1], columns] + rest}
        return None

    def mark(self, term, inlines):
        identifier = f"index-{len(self.marks)}"
        self.marks.append((term, identifier, self.chapter))
        return span(identifier, inlines)

    def blocks(self, source):
        self.chapter = re.sub(r"^chapters/(\d+).*", r"\1", source)
        parsed = json.loads(run(["pandoc", "-f", "gfm", "-t", "json", source]))
        self.version = parsed["pandoc-api-version"]
        blocks = walk(parsed["blocks"], lambda n: self.change(source, n))
        if source.startswith("chapters/"):
            blocks = self.mark_mentions(blocks)
        return blocks

    # ---- the index ----

    def read_terms(self):
        """The glossary's terms: identifier, and text."""
        parsed = json.loads(run(["pandoc", "-f", "gfm", "-t", "json", GLOSSARY]))
        self.terms = {b["c"][1][0]: plain(b["c"][2]) for b in parsed["blocks"]
                      if b["t"] == "Header" and b["c"][0] == 3}

    def mark_mentions(self, blocks):
        """Marks the first paragraph of a chapter that mentions a term which no link there names."""
        out = []
        for block in blocks:
            marks = []
            words = plain(block).lower() if block["t"] == "Para" else ""
            for identifier, term in self.terms.items():
                seen = (identifier, self.chapter) in self.seen or any(
                    m[0] == identifier and m[2] == self.chapter for m in self.marks)
                if words and not seen and re.search(r"\b" + re.escape(term.lower()) + r"s?\b", words):
                    self.seen.add((identifier, self.chapter))
                    marks.append(self.mark(identifier, []))
            if marks:
                block = {"t": "Para", "c": marks + block["c"]}
            out.append(block)
        return out

    def index(self, has_pages):
        """An entry for each term: its page in the glossary, then where lessons use it. On paper a
        reference is a page, which print.css fills in; else the number of the chapter."""
        heading, blocks = {"t": "Header", "c": [1, ["index", [], []], [text("Index")]]}, []
        for identifier, term in sorted(self.terms.items(), key=lambda t: t[1].lower()):
            entry = [link([text(term)], f"#{part_id(GLOSSARY)}--{identifier}", "term")]
            for _, mark, chapter in [m for m in self.marks if m[0] == identifier]:
                label = "\u200b" if has_pages else chapter if chapter.isdigit() else "guide"
                entry += [text(","), {"t": "Space"}, link([text(label)], "#" + mark, "page")]
            blocks.append({"t": "Para", "c": entry})
        return [heading, {"t": "Div", "c": [["", ["index"], []], blocks]}]

    # ---- the whole ----

    def compose(self):
        self.seen = set()
        self.read_terms()
        self.body = []
        for source in self.sources:
            self.body += self.blocks(source)
        self.ids.add("#index")
        self.check_links()

    def check_links(self):
        def check(node):
            if node["t"] == "Link":
                url = node["c"][2][0]
                if url.startswith("#") and url not in self.ids:
                    self.faults.append(f"a link leads to {url}, which the book doesn't have")
        walk(self.body, check)
        if self.faults:
            sys.exit("book: " + "\nbook: ".join(sorted(set(self.faults))))

    def document(self, has_pages):
        return json.dumps({"pandoc-api-version": self.version, "meta": {},
                           "blocks": self.body + self.index(has_pages)})


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: book.py FOLDER [DATE]")
    folder = os.path.abspath(sys.argv[1])
    edition = sys.argv[2] if len(sys.argv) > 2 else ""
    os.makedirs(folder, exist_ok=True)
    book = Book(folder)
    book.compose()
    common = ["pandoc", "-f", "json", "--standalone", "--toc", "--toc-depth=2", "-M", "lang=en-GB",
              "-M", "title=Warpbook", "-M", "subtitle=Graded exercises in CUDA performance"]
    if edition:
        common += ["-M", f"date={edition}"]
    html, pdf, epub = (os.path.join(folder, "warpbook." + end) for end in ("html", "pdf", "epub"))
    identifier = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, 'warpbook')}"
    run(common + ["-t", "html5", "--css", os.path.join(HERE, "print.css"), "-o", html], book.document(True))
    run(["weasyprint", html, pdf])
    run(common + ["-t", "epub3", "--css", os.path.join(HERE, "epub.css"), "--epub-chapter-level=1",
                  "-M", f"identifier={identifier}", "-o", epub], book.document(False))
    for f in glob.glob(os.path.join(folder, "*.svg")) + [html]:
        os.remove(f)
    print(f"{pdf} and {epub}")


if __name__ == "__main__":
    main()
