// class.js: the page of `grader serve --class`: a class's table with filters and distributions, and one submission with its decisions.
import {element, button, number, scrollTable, section, verdictClass} from "./dom.js";
import * as server from "./server.js";

const bar = document.getElementById("bar"), view = document.getElementById("view");
const filters = {text: "", verdict: "", least: "", most: ""};
const state = row => row.state === "graded" || row.state === "overridden" ? row.verdict ?? row.state : row.state;
const address = (student, exercise) => `#/${encodeURIComponent(student)}/${encodeURIComponent(exercise)}`;

function show(header, className, ...children) {
    bar.replaceChildren(...header);
    view.className = className;
    view.replaceChildren(...children);
}

function field(label, properties) {
    const input = element("input", {type: "text", ...properties});
    return [element("label", null, label, " ", input), input];
}

// ---- the table ----

function isShown(row) {
    const text = filters.text.toLowerCase();
    return (!text || [row.student, row.name, row.reason ?? ""].some(t => t.toLowerCase().includes(text)))
        && (!filters.verdict || state(row) === filters.verdict)
        && (filters.least === "" || (row.score !== null && row.score >= +filters.least))
        && (filters.most === "" || (row.score !== null && row.score <= +filters.most));
}

function cell(row) {
    if (!row) return element("td", null, "");
    const link = element("a", {href: address(row.student, row.exercise)}, row.score === null ? state(row) : `${state(row)} ${number(row.score)}`);
    if (row.verdict) link.classList.add(verdictClass(row.verdict));
    return element("td", {title: row.reason ?? ""}, link, row.state === "overridden" ? " ✎" : "");
}

// Ten bins of ten points; 100 is in the last one. A row without a score is in none.
function distribution(exercise, rows) {
    const bins = new Array(10).fill(0);
    for (const row of rows) if (row.exercise === exercise && row.score !== null) bins[Math.min(9, Math.floor(row.score / 10))]++;
    const most = Math.max(1, ...bins);
    return section(exercise, ...bins.map((n, i) => {
        const label = `${10 * i}–${i === 9 ? 100 : 10 * i + 9}`;
        return element("div.time", null, element("span", null, label),
            element("progress", {max: most, value: n, "aria-label": `${n} scores of ${label}`}), element("span.n", null, String(n)));
    }));
}

function tableOf(rows) {
    const exercises = [...new Set(rows.map(r => r.exercise))].sort(), students = new Map();
    for (const row of rows.filter(isShown)) {
        if (!students.has(row.student)) students.set(row.student, {name: row.name, cells: new Map()});
        students.get(row.student).cells.set(row.exercise, row);
    }
    const body = [...students].sort(([a], [b]) => a < b ? -1 : 1).map(([student, {name, cells}]) =>
        element("tr", null, element("th", {scope: "row"}, name ? `${student} (${name})` : student), ...exercises.map(x => cell(cells.get(x)))));
    return [element("p", {role: "status"}, `${students.size} of ${new Set(rows.map(r => r.student)).size} students`),
        scrollTable("Students and exercises", element("tr", null, element("th", null, "Student"), ...exercises.map(x => element("th", null, x))), ...body),
        element("h2", null, "Scores shown above"),
        element("div.distributions", null, ...exercises.map(x => distribution(x, rows.filter(isShown))))];
}

async function showTable() {
    const data = await server.classRows(), found = element("div");
    const update = () => found.replaceChildren(...tableOf(data.rows));
    const bind = (label, key, properties) =>
        field(label, {value: filters[key], oninput: e => { filters[key] = e.target.value.trim(); update(); }, ...properties})[0];
    const verdicts = [...new Set(data.rows.map(state))].sort();
    const select = element("select", {onchange: e => { filters.verdict = e.target.value; update(); }},
        element("option", {value: ""}, "all"), ...verdicts.map(v => element("option", {value: v, selected: v === filters.verdict}, v)));
    update();
    show([element("strong", null, "Class"), element("span.dim", null, data.may_decide ? `You decide as ${data.author}` : "Read-only")], "class",
        element("div.filters", null, bind("Text", "text"), element("label", null, "Verdict ", select),
            bind("Score from", "least", {className: "points", inputMode: "decimal"}), bind("to", "most", {className: "points", inputMode: "decimal"})),
        found);
}

// ---- one submission ----

function sourceOf(row) {
    if (row.source === null) return element("p.dim", null, "No source is stored.");
    const comments = row.history.filter(d => d.kind === "comment" && d.counts && +d.line > 0), lines = row.source.split("\n");
    if (lines.at(-1) === "") lines.pop();
    return element("pre.numbered", {tabIndex: 0, role: "group", "aria-label": "Source"}, ...lines.flatMap((text, i) => [
        element("span.n", null, String(i + 1)), text + "\n",
        ...comments.filter(d => +d.line === i + 1).map(d => element("div.finding", null, `${d.author}: ${d.value}`))]));
}

function historyOf(row) {
    if (!row.history.length) return element("p.dim", null, "No decisions yet.");
    return scrollTable("Decisions", element("tr", null, ...["When", "Who", "What", "Before", "Reason"].map(t => element("th", null, t))),
        ...row.history.map(d => element("tr", null, ...[d.made_at, d.author,
            `${d.kind}${+d.line ? ` to line ${d.line}` : ""}: ${d.value || "withdrawn"}`, d.former, d.reason].map(t => element("td.w", null, t)))));
}

function forms(row, notice) {
    const seen = Math.max(0, ...row.history.map(d => d.n));
    const send = async (event, decision) => {
        event.preventDefault();
        try {
            showSubmission(await server.decide(row.student, row.exercise, {reason: "", line: 0, ...decision, seen}), true);
        } catch (error) {
            notice.textContent = error.message;
        }
    };
    const [scoreLabel, score] = field("Score (0 to 100, - withdraws)", {className: "points", required: true});
    const [reasonLabel, reason] = field("Reason", {required: true});
    const [commentLabel, comment] = field("Comment (- withdraws)", {required: true});
    const [lineLabel, line] = field("Line (0 = the whole file)", {className: "points", value: "0", inputMode: "numeric"});
    return [
        element("form.decision", {onsubmit: e => send(e, {kind: "score", value: score.value, reason: reason.value})},
            scoreLabel, reasonLabel, element("button.primary", null, "Set score")),
        element("form.decision", {onsubmit: e => send(e, {kind: "comment", value: comment.value, line: +line.value || 0})},
            commentLabel, lineLabel, element("button.primary", null, "Add comment"))];
}

function showSubmission(row, mayDecide) {
    const notice = element("p.bad", {role: "alert"});
    const score = row.score === null ? "no score" : `${number(row.score)} points`;
    show([element("a", {href: "#/"}, "Class"), element("strong", null, row.name ? `${row.student} (${row.name})` : row.student),
        element("span", null, row.exercise)], "submission",
    element("div", null, element("h2", null, "Source"), sourceOf(row)),
    element("div", null, element("p.first", {id: "score"}, `${state(row)}, ${score}`), row.reason ? element("p", null, row.reason) : null,
        notice, ...(mayDecide ? [section("Decide", ...forms(row, notice), button("Load again", route))] : []),
        section("Decisions", historyOf(row)),
        section("Report", element("pre.report", {tabIndex: 0, role: "group", "aria-label": "Report"}, row.report ?? "Not graded."))));
}

async function route() {
    const [student, exercise] = location.hash.slice(2).split("/").map(decodeURIComponent);
    try {
        if (!student || !exercise) return await showTable();
        const [row, data] = await Promise.all([server.submission(student, exercise), server.classRows()]);
        showSubmission(row, data.may_decide);
    } catch (error) {
        show([element("a", {href: "#/"}, "Class")], "class", element("p.bad", {role: "alert"}, error.message));
    }
}

addEventListener("hashchange", route);
route();
