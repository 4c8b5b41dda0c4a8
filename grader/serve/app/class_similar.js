// class_similar.js: pairs of submissions that share passages, as a list and side by side.
import {element, scrollTable} from "./dom.js";

export const pairAddress = (exercise, a, b) => ["#similar", ...[exercise, a, b].filter(x => x !== undefined).map(encodeURIComponent)].join("/");
const percent = share => `${Math.round(100 * share)} %`;
const count = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
const range = ([first, last]) => first === last ? `${first}` : `${first}–${last}`;

// ---- the list ----

// Returns a table of the pairs and one of the copies of the book's versions.
export function similarList({exercise, pairs, copies}) {
    const head = (...titles) => element("tr", null, ...titles.map(t => element("th", null, t)));
    return [
        pairs.length ? scrollTable("Pairs", head("Common", "Fingerprints", "Pair"), ...pairs.map(p => element("tr", null,
            element("td", null, percent(p.share)), element("td", null, String(p.common)),
            element("td", null, element("a", {href: pairAddress(exercise, p.a, p.b)}, `${p.a} and ${p.b}`),
                p.has_other ? " (one is not of this class)" : "")))) : null,
        copies.length ? scrollTable("Copies of the book", head("Common", "Student", "The book's version"), ...copies.map(c => element("tr", null,
            element("td", null, percent(c.share)), element("td", null, c.student), element("td", null, c.version)))) : null];
}

export function similarView(list) {
    const select = element("select", {onchange: e => { location.hash = pairAddress(e.target.value); }},
        ...list.exercises.map(x => element("option", {value: x, selected: x === list.exercise}, x)));
    return [
        element("div.filters", null, element("label", null, "Exercise ", select)),
        element("p", {role: "status"}, `${count(list.pairs.length, "pair")}; copies of the book's versions: ${list.copies.length}. ` +
            "A listed pair is a reason to compare two sources, not proof of copying."),
        ...similarList(list)];
}

// ---- a pair ----

// Numbers the lines; those of a passage have its number in the margin and its colour. A click on one calls `jump` with its passage.
function sideOf(pair, side, submission, jump) {
    const text = pair[side], lines = text.source.split("\n");
    if (lines.at(-1) === "") lines.pop();
    const passageOf = i => pair.passages.findIndex(p => p[side][0] <= i && i <= p[side][1]);
    const rows = lines.map((line, i) => {
        const k = passageOf(i + 1), isFirst = k >= 0 && pair.passages[k][side][0] === i + 1;
        const row = element(k < 0 ? "div.source-line" : `div.source-line.passage.p${k % 4}`, k < 0 ? {} : {onclick: () => jump(k)},
            element("span.k", null, isFirst ? String(k + 1) : ""), element("span.n", null, String(i + 1)), line);
        if (isFirst) row.dataset.passage = k;
        return row;
    });
    const name = text.is_other ? text.student : element("a", {href: submission}, text.student);
    return element("div", null, element("h2", null, name, element("span.dim", null, ` ${text.file}`)),
        element("pre.numbered.compared", {tabIndex: 0, role: "group", "aria-label": `Source of ${text.student}`}, ...rows));
}

// `address` gives the address of a submission.
export function pairView(pair, address) {
    const sides = element("div.sides");
    const jump = k => {
        for (const row of sides.querySelectorAll(`[data-passage="${k}"]`))
            row.parentElement.scrollTop = row.offsetTop - row.parentElement.offsetTop - 40;
    };
    sides.append(...["a", "b"].map(side => sideOf(pair, side, address(pair[side].student, pair.exercise), jump)));
    const n = pair.passages.length;
    return [
        element("p", {role: "status"}, `${percent(pair.share)} of the fingerprints are common: ${pair.common}, in ${count(n, "passage")}. ` +
            "Passages may contain parts that the book or many students have, which don't count."),
        n ? element("div.passages", null, ...pair.passages.map((p, k) => element(`button.passage.p${k % 4}`, {type: "button", onclick: () => jump(k)},
            `${k + 1}: lines ${range(p.a)} and ${range(p.b)}, ${p.tokens} tokens`))) : null,
        sides];
}
