#!/usr/bin/env python3
"""slides.py FOLDER — renders docs/course/slides/*.md as HTML slides with pandoc; `make slides` runs it.

A deck is Markdown for pandoc: "% " begins its title, each "## " a slide. Two kinds of comments take
parts from the chapter of the same name, so that figures and measured times exist only once:

    <!--lesson By hand: transpose: table 2-->   the second table of that section
    <!--lesson Summary: table 1 rows 3-8-->     some rows of a table that is too long for a slide
    <!--lesson: text 1-->                       of the part before the first section
    <!--quiz 3-->                               the third question, without its answer

Parts: text, list, table, code (indented), diagram (fenced), picture. A missing part is an error.
Each page stands alone: dzslides needs no file and no network."""
import glob
import json
import os
import re
import sys

import book

WIDTH_PX, CODE_PX = 740, 18.0  # of a slide's text, and the largest size of its code
CODE_HEIGHT_PX = 330  # leaves room for a heading and three lines of text
DENSE_CHARACTERS = 600  # of a table, from which it is set smaller
KINDS = {"text": "Para", "list": "BulletList", "table": "Table"}
CSS = """<style>
html { background: #333; } section { font-family: 'Liberation Sans', sans-serif !important; background: #fff !important; }
section > h1, section > h2 { font-size: 32px !important; line-height: 1.2 !important; margin: 0 0 10px !important;
padding: 22px 30px 0 !important; text-align: left !important; position: static !important; }
section.title > h1 { margin-top: 200px !important; text-align: center !important; font-size: 42px !important; }
section p, section li { font-size: 20px !important; line-height: 1.3 !important; margin-top: 4px; margin-bottom: 6px; }
section > p { margin-left: 30px !important; margin-right: 30px !important; padding: 0 !important; }
section ul { margin: 4px 30px !important; padding-left: 20px !important; }
section pre { font-family: 'DejaVu Sans Mono', monospace !important; line-height: 1.25; margin: 10px 30px !important; text-align: left; }
section pre code { font-size: 1em !important; }
section table { border-collapse: collapse; width: 740px; margin: 10px 30px; }
section td, section th { font-size: 14px; line-height: 1.25; border-bottom: 1px solid #c0c0c0; padding: 2px 8px 2px 0;
text-align: left; vertical-align: top; }
section code { font-family: 'DejaVu Sans Mono', monospace !important; font-size: 0.88em !important; }
section table.dense td, section table.dense th { font-size: 11.5px; } section table.dense { line-height: 1.15; }
section img { max-width: 700px !important; max-height: 480px !important; width: auto !important; height: auto !important; position: static !important; }
</style>"""


def is_picture(block):
    return block["t"] == "Para" and any(i["t"] == "Image" for i in block["c"])


def is_kind(block, kind, source):
    if kind == "picture":
        return is_picture(block)
    if kind in ("code", "diagram"):
        return block["t"] == "CodeBlock" and (block["c"][1] in source["fenced"]) == (kind == "diagram")
    return block["t"] == KINDS[kind] and not is_picture(block)


def sections(path):
    """The blocks of a lesson by section, the part before the first one as ""."""
    blocks = json.loads(book.run(["pandoc", "-f", "gfm", "-t", "json", path]))["blocks"]
    text = open(os.path.join(book.ROOT, path), encoding="utf-8").read()
    out, name = {"": []}, ""
    for block in blocks:
        if block["t"] == "Header" and block["c"][0] == 2:
            name = book.plain(block["c"][2])
            out[name] = []
        else:
            out[name].append(block)
    return {"sections": out, "fenced": set(re.findall(r"```\w*\n(.*?)\n```", text, re.S)), "path": path}


def question(path, number):
    text = open(os.path.join(book.ROOT, path), encoding="utf-8").read()
    parts = re.split(r"^## \d+\. (?=.)", text, flags=re.M)[1:]
    if number > len(parts):
        sys.exit(f"slides: {path} has no question {number}")
    title, body = re.sub(r"<!--.*?-->", "", parts[number - 1], flags=re.S).split("\n", 1)
    return json.loads(book.run(["pandoc", "-f", "gfm", "-t", "json"], f"**{title}**\n\n{body}"))["blocks"]


def rows_of(table, rows):
    """A table with only the rows from rows[0] to rows[1], counted from 1."""
    (attributes, header_columns, header, body), *others = table["c"][4]
    body = body[rows[0] - 1 : rows[1]]
    return {"t": "Table", "c": [*table["c"][:4], [[attributes, header_columns, header, body], *others], *table["c"][5:]]}


class Deck:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.chapter = os.path.basename(path)[:-3]
        self.lesson = sections(f"chapters/{self.chapter}/README.md")
        self.pictures = book.Book(folder)

    def part(self, section, kind, number, rows=None):
        blocks = [b for b in self.lesson["sections"].get(section, []) if is_kind(b, kind, self.lesson)]
        if number > len(blocks):
            sys.exit(f"slides: {self.path}: section '{section}' has no {kind} {number}")
        return book.walk([rows_of(blocks[number - 1], rows) if rows else blocks[number - 1]], self.change)

    def change(self, node):
        kind, c = node["t"], node.get("c")
        if kind in ("RawBlock", "RawInline"):
            return []
        if kind == "Link":
            return book.walk(c[1], self.change)
        if kind == "Image":
            return {"t": "Image", "c": [c[0], c[1], [self.pictures.picture(self.lesson["path"], c[2][0]), ""]]}
        if kind == "CodeBlock":
            columns = max(len(line) for line in c[1].split("\n"))
            lines = c[1].count("\n") + 1
            size = min(CODE_PX, WIDTH_PX / book.CODE_ADVANCE / columns, CODE_HEIGHT_PX / lines / 1.25)
            return {"t": "CodeBlock", "c": [["", [], [["style", f"font-size:{size:.1f}px"]]], c[1]]}
        if kind == "Table":
            columns = [[align, {"t": "ColWidthDefault"}] for align, _ in c[2]]
            css = ["dense"] if len(book.plain(c[4])) > DENSE_CHARACTERS else []
            return {"t": "Table", "c": [["", css, []], c[1], columns] + book.walk(c[3:], self.change)}
        return None

    def expand(self, block):
        """Replaces a comment by the part that it names."""
        if block["t"] != "RawBlock":
            return [block]
        m = re.fullmatch(r"<!--(?:lesson ?(.*?): (\w+) (\d+)(?: rows (\d+)-(\d+))?|quiz (\d+))-->\s*", block["c"][1])
        if not m or (m[2] and m[2] not in [*KINDS, "code", "diagram", "picture"]):
            sys.exit(f"slides: {self.path}: '{block['c'][1].strip()}' is no part of a lesson or quiz")
        if m[6]:
            return book.walk(question(f"chapters/{self.chapter}/quiz.md", int(m[6])), self.change)
        return self.part(m[1], m[2], int(m[3]), (int(m[4]), int(m[5])) if m[4] else None)

    def write(self):
        parsed = json.loads(book.run(["pandoc", "-f", "markdown", "-t", "json", self.path]))
        parsed["blocks"] = [new for block in parsed["blocks"] for new in self.expand(block)]
        css = os.path.join(self.folder, "slides.css.html")
        with open(css, "w", encoding="utf-8") as f:
            f.write(CSS)
        page = os.path.join(self.folder, self.chapter + ".html")
        book.run(["pandoc", "-f", "json", "-t", "dzslides", "--standalone", "--slide-level=2", "-M",
                  "lang=en-GB", "-H", css, *embedding(), "-o", page], json.dumps(parsed))
        os.remove(css)


def embedding():
    """The option that puts pictures into the page; pandoc 2.19 renamed it."""
    version = re.search(r"(\d+)\.(\d+)", book.run(["pandoc", "--version"]))
    return ["--embed-resources"] if (int(version[1]), int(version[2])) >= (2, 19) else ["--self-contained"]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: slides.py FOLDER")
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(folder, exist_ok=True)
    decks = sorted(glob.glob("docs/course/slides/*.md", root_dir=book.ROOT))
    for path in decks:
        Deck(path, folder).write()
    for f in glob.glob(os.path.join(folder, "*.svg")):
        os.remove(f)
    print(f"{len(decks)} decks in {folder}")


if __name__ == "__main__":
    main()
