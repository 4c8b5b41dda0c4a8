#!/usr/bin/env python3
"""quiz_export.py GIFT QTI — compares what `grader quiz --export` wrote with chapters/*/quiz.md.

It reads GIFT by the rules of Moodle's importer (qformat_gift: escapes, blank lines between
questions, `####` before the feedback) and QTI 1.2 as Canvas does (imsmanifest.xml, question_type).
The expected answers come from the pages themselves, by a parser of its own."""
import glob
import html
import re
import sys
import xml.etree.ElementTree as ET
import zipfile
from fractions import Fraction

NS = "{http://www.imsglobal.org/xsd/ims_qtiasiv1p2}"
NUMERIC_HINT = "Answer with a number. Write a fraction or a percentage as a decimal, such as 0.3 for 30 %."


def words(text):
    """The letters and digits of a text without tags, for comparisons that ignore layout."""
    return re.sub(r"[^0-9A-Za-z\u0080-\uffff]", "", html.unescape(re.sub(r"</?(p|pre|code|strong|em)>", "", text)))


def pages():
    """Yields chapter, title, text, choices, answer (a letter or a number), tolerance, feedback."""
    for path in sorted(glob.glob("chapters/*/quiz.md")):
        for part in re.split(r"^## \d+\. ", open(path, encoding="utf-8").read(), flags=re.M)[1:]:
            title, body = part.split("\n", 1)
            text, comment = body.split("<!--quiz\n")
            comment, why = comment.split("-->")[0].split("why:")
            fields = dict(line.split(": ", 1) for line in comment.strip().split("\n"))
            first, *choices = re.split(r"^- [a-z]\. ", text, flags=re.M)
            answer = fields["answer"].strip()
            if not re.fullmatch("[a-z]", answer):
                scale = 100 if answer.endswith("%") else 1
                answer = float(Fraction(answer.rstrip("%")) / scale)
            yield (path.split("/")[1], title, first, choices, answer,
                   float(Fraction(fields.get("within", "0"))), why)


def unescape_gift(text):
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text, flags=re.S)


def read_gift(path):
    chapter = None
    for block in re.split(r"\n\s*\n", open(path, encoding="utf-8").read().strip()):
        if block.startswith("$CATEGORY:"):
            chapter = block.rsplit("/", 1)[1]
            continue
        m = re.fullmatch(r"::((?:[^\\:]|\\.)*)::\[html\](.*?)(?<!\\)\{(.*)\}", block, re.S)
        assert m, f"no GIFT question: {block[:80]}"
        assert not re.search(r"(?<!\\)[{}]", m[3]), f"brace in the answers: {block[:80]}"
        answers, feedback = re.split(r"(?<!\\)####", m[3])
        choices = re.findall(r"(?<!\\)([=~])((?:[^\\=~]|\\.)*)", answers, re.S)
        number = re.match(r"#([^:]+):(\S+)", answers)
        yield (chapter, unescape_gift(m[1]), unescape_gift(m[2]), [unescape_gift(c[1]) for c in choices],
               (float(number[1]), float(number[2])) if number else
               ("abcdefgh"[[c[0] for c in choices].index("=")], 0), unescape_gift(feedback))


def read_qti(path):
    with zipfile.ZipFile(path) as z:
        manifest = ET.fromstring(z.read("imsmanifest.xml"))
        files = [e.attrib["href"] for e in manifest.iter() if e.tag.endswith("}file")]
        assert sorted(files + ["imsmanifest.xml"]) == sorted(z.namelist()), "manifest and files differ"
        for name in files:
            for item in ET.fromstring(z.read(name)).iter(NS + "item"):
                texts = [e.text or "" for e in item.find(NS + "presentation").iter(NS + "mattext")]
                kind = item.find(f".//{NS}fieldentry").text
                right, feedback = item.findall(f"{NS}resprocessing/{NS}respcondition")[1], item.find(f"{NS}itemfeedback")
                assert feedback.attrib["ident"] == item.find(f".//{NS}displayfeedback").attrib["linkrefid"]
                assert right.find(NS + "setvar").text == "100"
                value = right.find(f".//{NS}varequal").text
                labels = [e.attrib["ident"] for e in item.iter(NS + "response_label")]
                if kind == "numerical_question":
                    answer = float(value), float(right.find(f".//{NS}varlte").text) - float(value)
                else:
                    assert kind == "multiple_choice_question" and value in labels
                    answer = value, 0
                yield (name[:-4], item.attrib["title"], texts[0], texts[1:], answer,
                       feedback.find(f".//{NS}mattext").text)


def compare(where, exported):
    expected = list(pages())
    assert len(exported) == len(expected), f"{where}: {len(exported)} of {len(expected)} questions"
    for got, (chapter, title, text, choices, answer, tolerance, why) in zip(exported, expected):
        place = f"{where}: {chapter}: {title}"
        hint = "" if choices else NUMERIC_HINT
        assert got[0] == chapter and words(got[1]) == words(title), place
        assert words(got[2]) == words(html.escape(text) + hint), f"{place}: text"
        assert [words(c) for c in got[3]] == [words(html.escape(c)) for c in choices], f"{place}: choices"
        assert words(got[5]) == words(html.escape(why)), f"{place}: feedback"
        value, allowed = got[4]
        if choices:
            assert value == answer, f"{place}: answer {value}"
        else:
            whole = answer == int(answer)
            rounding = 0 if whole else 0.005 * abs(answer)
            assert abs(value - answer) < 1e-9, f"{place}: answer {value}"
            assert abs(allowed - max(tolerance, rounding)) < 1e-6, f"{place}: tolerance {allowed}"
    print(f"{where}: {len(expected)} questions")


if __name__ == "__main__":
    compare("GIFT", list(read_gift(sys.argv[1])))
    compare("QTI", list(read_qti(sys.argv[2])))
