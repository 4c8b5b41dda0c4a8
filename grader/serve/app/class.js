// class.js: the page of `grader serve --class`: a class's table with filters and distributions, and one submission with its decisions.
// class_similar.js has the pairs of similar submissions.
import {pairAddress, pairView, similarList, similarView} from "./class_similar.js";
import {element, button, number, scrollTable, section, verdictClass} from "./dom.js";
import * as server from "./server.js";

const bar = document.getElementById("bar"), view = document.getElementById("view");
const filters = {text: "", verdict: "", least: "", most: "", request: "", awaited: ""};
const percent = v => v === null || v === undefined ? "" : `${number(v)} %`;
const minute = time => time.slice(0, 16).replace("T", " ");
const home = () => element("a", {href: "#/"}, "Class");
const hasScore = ["graded", "overridden", "moderated"];
const state = row => hasScore.includes(row.state) ? row.verdict ?? row.state : row.state;
const address = (student, exercise) => `#/${encodeURIComponent(student)}/${encodeURIComponent(exercise)}`;

function show(header, className, ...children) {
    bar.replaceChildren(...header.filter(Boolean));
    view.className = className;
    view.replaceChildren(...children.filter(Boolean));
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
        && (!filters.request || row.request)
        && (!filters.awaited || row.awaited)
        && (filters.least === "" || (row.score !== null && row.score >= +filters.least))
        && (filters.most === "" || (row.score !== null && row.score <= +filters.most));
}

function cell(row) {
    if (!row) return element("td", null, "");
    const link = element("a", {href: address(row.student, row.exercise)}, row.score === null ? state(row) : `${state(row)} ${number(row.score)}`);
    if (row.verdict) link.classList.add(verdictClass(row.verdict));
    return element("td", {title: row.reason ?? ""}, link, row.state === "overridden" || row.state === "moderated" ? " ✎" : "", row.request ? " (request)" : "");
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

const daysLate = t => `${t.days_late} ${t.days_late === 1 ? "day" : "days"}`;
const lateness = t => t.days_late ? `${daysLate(t)}: ${percent(100 * t.kept)} counts` : "";

function totalCells(total) {
    if (!total) return [element("td"), element("td")];
    const note = [total.open && `no score yet: ${total.open}`, total.dropped && `dropped: ${total.dropped}`,
        total.excused && `excused: ${total.excused}`];
    return [element("td", null, lateness(total)),
        element("td.total", {title: note.filter(Boolean).join("; ")},
            total.percent === null ? (total.open ? "open" : "none") : percent(total.percent))];
}

function tableOf({rows, totals, weights}) {
    const exercises = [...new Set(rows.map(r => r.exercise))].sort(), students = new Map();
    for (const row of rows.filter(isShown)) {
        if (!students.has(row.student)) students.set(row.student, {name: row.name, cells: new Map()});
        students.get(row.student).cells.set(row.exercise, row);
    }
    const totalOf = new Map(totals.map(t => [t.student, t]));
    const body = [...students].sort(([a], [b]) => a < b ? -1 : 1).map(([student, {name, cells}]) =>
        element("tr", null, element("th", {scope: "row"}, name ? `${student} (${name})` : student), ...exercises.map(x => cell(cells.get(x))),
            ...(totals.length ? totalCells(totalOf.get(student)) : [])));
    const heading = x => element("th", {title: x}, x.split("/").pop(),
        weights[x] === undefined || weights[x] === 1 ? "" : ` (weight ${number(weights[x])})`);
    return [element("p", {role: "status"}, `${students.size} of ${new Set(rows.map(r => r.student)).size} students`),
        scrollTable("Students and exercises", element("tr", null, element("th", null, "Student"), ...exercises.map(heading),
            ...(totals.length ? [element("th", null, "Late"), element("th", null, "Total")] : [])), ...body),
        element("h2", null, "Scores shown above"),
        element("div.distributions", null, ...exercises.map(x => distribution(x, rows.filter(isShown))))];
}

async function showTable() {
    const data = await server.classRows(), found = element("div");
    const update = () => found.replaceChildren(...tableOf(data));
    const open = data.requests.filter(r => r.open), awaited = data.moderation.filter(r => r.awaited);
    const [isOpen, isAwaited] = [open, awaited].map(list => new Set(list.map(r => address(r.student, r.exercise))));
    for (const row of data.rows) {
        row.request = isOpen.has(address(row.student, row.exercise));
        row.awaited = isAwaited.has(address(row.student, row.exercise));
    }
    const bind = (label, key, properties) =>
        field(label, {value: filters[key], oninput: e => { filters[key] = e.target.value.trim(); update(); }, ...properties})[0];
    const verdicts = [...new Set(data.rows.map(state))].sort();
    const select = element("select", {onchange: e => { filters.verdict = e.target.value; update(); }},
        element("option", {value: ""}, "all"), ...verdicts.map(v => element("option", {value: v, selected: v === filters.verdict}, v)));
    const only = key => element("input", {type: "checkbox", checked: !!filters[key],
        onchange: e => { filters[key] = e.target.checked ? "1" : ""; update(); }});
    update();
    const role = data.is_student ? `You are ${data.author}` : data.may_decide ? `You decide as ${data.author}` : "Read-only";
    const similar = data.is_student ? null : element("a", {href: "#similar"}, "Similar");
    show([element("strong", null, "Class"), similar, element("span.dim", null, role)], "class",
        element("div.filters", null, bind("Text", "text"), element("label", null, "Verdict ", select),
            bind("Score from", "least", {className: "points", inputMode: "decimal"}), bind("to", "most", {className: "points", inputMode: "decimal"}),
            element("label", null, only("request"), ` Open requests (${open.length})`),
            awaited.length ? element("label", null, only("awaited"), ` In moderation, for you to score (${awaited.length})`) : null),
        found);
}

// ---- one submission ----

// A click on a line's number calls `choose`; the keyboard has the field of the form.
function sourceOf(row, choose) {
    if (row.source === null) return element("p.dim", null, "No source is stored.");
    const comments = row.history.filter(d => d.kind === "comment" && d.counts && +d.line > 0), lines = row.source.split("\n");
    if (lines.at(-1) === "") lines.pop();
    return element("pre.numbered", {tabIndex: 0, role: "group", "aria-label": "Source"}, ...lines.flatMap((text, i) => [
        element("span.n", {onclick: () => choose(i + 1)}, String(i + 1)), text + "\n",
        ...comments.filter(d => +d.line === i + 1).map(d => element("div.finding", null, `${d.author}: ${d.value}`))]));
}

function historyOf(row) {
    if (!row.history.length) return element("p.dim", null, "No decisions yet.");
    return scrollTable("Decisions", element("tr", null, ...["When (UTC)", "Who", "What", "Before", "Reason"].map(t => element("th", null, t))),
        ...row.history.map(d => element("tr", null, ...[minute(d.made_at), d.author,
            `${d.kind}${+d.line ? ` to line ${d.line}` : ""}: ${d.value || "withdrawn"}`, d.former, d.reason].map((t, column) => element(column < 2 ? "td.w" : "td", null, t)))));
}

function requestsOf(row) {
    return row.requests.map(r => element("div.request", null,
        element("p", null, element("strong", null, r.author), ` asks to grade this again (${minute(r.made_at)}${r.open ? ", open" : ""}): ${r.text}`),
        r.answer === null ? null : element("p", null, element("strong", null, r.answered_by), ` answers (${minute(r.answered_at)}): ${r.answer}`)));
}

// What the score counts for: lateness, weight, total.
function markOf(row) {
    const m = row.mark;
    if (!m) return null;
    const late = m.days_late ? `${daysLate(m)} late: ${percent(100 * m.kept)} of the score counts; ` : "";
    return element("p", {id: "mark"}, late + [`mark ${m.percent === null ? "open" : percent(m.percent)}`,
        `weight ${number(m.weight)}${m.dropped ? ", dropped" : ""}`,
        `total ${m.total === null ? "open" : percent(m.total)}`].join("; "));
}

// The forms that the reader may use; `line` is the field for a comment's line.
function forms(row, notice) {
    const everyone = element("input", {type: "checkbox"});
    const send = async (event, ...decisions) => {
        event.preventDefault();
        try {
            let current = row;
            for (const d of decisions)
                current = await server.decide(row.student, row.exercise,
                    {reason: "", line: 0, ...d, seen: current.seen, group: d.kind !== "request" && d.kind !== "answer" && everyone.checked});
            showSubmission(current);
        } catch (error) {
            notice.textContent = error.message;
        }
    };
    const form = (onsubmit, label, ...fields) => element("form.decision", {onsubmit}, ...fields, element("button.primary", null, label));
    if (row.is_student) {
        const [label, text] = field("Why this should be graded again (- withdraws)", {required: true});
        return {forms: [form(e => send(e, {kind: "request", value: text.value}), "Ask", label)]};
    }
    const [scoreLabel, score] = field("Score (0 to 100, - withdraws)", {className: "points", required: true});
    const [reasonLabel, reason] = field("Reason", {required: true});
    const [commentLabel, comment] = field("Comment (- withdraws)", {required: true});
    const [lineLabel, line] = field("Line (0 = the whole file)", {className: "points", value: "0", inputMode: "numeric"});
    const [answerLabel, answer] = field("Answer", {required: true});
    const [blindLabel, blind] = field("Blind score (0 to 100, - withdraws)", {className: "points", required: true});
    const [whyLabel, why] = field("Reason", {required: true});
    const [newLabel, newScore] = field("New score (empty = as it is)", {className: "points"});
    const reply = () => [...(newScore.value.trim() ? [{kind: "score", value: newScore.value.trim(), reason: answer.value}] : []),
        {kind: "answer", value: answer.value}];
    const [moderation] = row.moderation, isBlind = moderation?.blind_scores < 2;
    return {line, comment, forms: [
        isBlind ? form(e => send(e, {kind: "blind_score", value: blind.value, reason: why.value}),
            moderation.awaited ? "Score blind" : "Replace my blind score", blindLabel, whyLabel) : null,
        row.requests.some(r => r.open) ? form(e => send(e, ...reply()), "Answer the request", answerLabel, newLabel) : null,
        row.partners.length ? element("p", null, element("label", null, everyone,
            ` Scores and comments for the whole group, also ${row.partners.join(", ")}`)) : null,
        isBlind || moderation?.awaited === false ? null
            : form(e => send(e, {kind: "score", value: score.value, reason: reason.value}), "Set score", scoreLabel, reasonLabel),
        form(e => send(e, {kind: "comment", value: comment.value, line: +line.value || 0}), "Add comment", commentLabel, lineLabel)]};
}

// Appends the submissions that share passages with this one.
async function addSimilar(row, place) {
    const found = await server.similar(row.exercise).catch(() => null);
    const mine = found?.pairs.filter(p => p.a === row.student || p.b === row.student) ?? [];
    const copies = found?.copies.filter(c => c.student === row.student) ?? [];
    if (mine.length || copies.length) place.replaceChildren(section("Similar", ...similarList({...found, pairs: mine, copies})));
}

function showSubmission(row) {
    const notice = element("p.bad", {role: "alert"}), similar = element("div");
    const score = row.score === null ? "no score" : `${number(row.score)} points`;
    const may = row.may_decide || row.is_student, inputs = may ? forms(row, notice) : {};
    const choose = line => {
        if (!inputs.line) return;
        inputs.line.value = line;
        inputs.comment.focus();
    };
    show([home(), element("strong", null, row.name ? `${row.student} (${row.name})` : row.student),
        element("span", null, row.exercise)], "submission",
    element("div", null, element("h2", null, "Source"), sourceOf(row, choose)),
    element("div", null, element("p.first", {id: "score"}, `${state(row)}, ${score}`), row.reason ? element("p", null, row.reason) : null,
        markOf(row), row.submitter !== row.student ? element("p", null, `Handed in by ${row.submitter}`) : null,
        row.partners.length ? element("p", null, `Handed in together with ${row.partners.join(", ")}`) : null,
        notice, ...requestsOf(row),
        ...(may ? [section(row.is_student ? "Ask to grade again" : "Decide", ...inputs.forms, button("Load again", route))] : []),
        section("Decisions", historyOf(row)), similar,
        section("Report", element("pre.report", {tabIndex: 0, role: "group", "aria-label": "Report"}, row.report ?? "Not graded."))));
    if (!row.is_student) addSimilar(row, similar);
}

// ---- similar submissions ----

async function showSimilar(exercise, a, b) {
    if (a && b) {
        const pair = await server.pair(exercise, a, b);
        return show([home(), element("a", {href: pairAddress(pair.exercise)}, "Similar"), element("strong", null, `${a} and ${b}`),
            element("span", null, exercise)], "pair", ...pairView(pair, address));
    }
    const list = await server.similar(exercise);
    show([home(), element("strong", null, "Similar"), element("span", null, list.exercise)], "class", ...similarView(list));
}

async function route() {
    const [kind, ...parts] = location.hash.slice(1).split("/").map(decodeURIComponent);
    try {
        if (kind === "similar") return await showSimilar(...parts);
        const [student, exercise] = parts;
        if (!student || !exercise) return await showTable();
        showSubmission(await server.submission(student, exercise));
    } catch (error) {
        show([home()], "class", element("p.bad", {role: "alert"}, error.message));
    }
}

addEventListener("hashchange", route);
route();
