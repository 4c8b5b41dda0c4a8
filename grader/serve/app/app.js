// app.js: the workbench: contents, and an exercise with its texts, its code and its result. Events from the server keep both fresh.
import {element, button, time, verdictClass, drawing, scrollTable} from "./dom.js";
import {markdown} from "./markdown.js";
import {diffView} from "./diff.js";
import {createEditor} from "./editor.js";
import {findingsOf, heatOf, resultView, lineView, firstLine} from "./result.js";
import {quizView, showAnswer} from "./quiz.js";
import {tuneView, addRow} from "./tune.js";
import {showPlayground, savePlayground, playEvent} from "./play.js";
import * as server from "./server.js";

const bar = document.getElementById("bar"), view = document.getElementById("view");
view.tabIndex = -1;
const TABS = ["Task", "Lesson", "Quiz", "Hints", "Tune", "History", "Solution"];
let open = null; // the exercise on the page; null = contents
let queue = {waiting: [], running: null}, has_lost_server = false;

function showFault(error) {
    view.replaceChildren(element("p.bad", {role: "alert"}, error.message));
}

// ---- contents ----

function row(ex) {
    return element("tr", null,
        element("td", null, element("a", {href: `#/${ex.id}`}, ex.name)),
        element("td.title", null, ex.title),
        element(`td.w${ex.verdict ? "." + verdictClass(ex.verdict) : ".dim"}`, null, ex.state === "done" ? "✔ done" : ex.state),
        element("td.n", null, ex.verdict ? ex.score.toFixed(1) : ""),
        element("td.n", null, time(ex.best_us)));
}

function exercises(title, list) {
    const done = list.filter(e => e.state === "done").length;
    return element("section", null, element("h2", null, title, element("span.dim", null, ` ${done} of ${list.length}`)),
        element(".scroll", null, element("table.contents", null,
            element("tr", null, ...["exercise", "title", "state", "points", "best time"].map((t, i) => element(i > 2 ? "th.n" : "th", null, t))),
            ...list.map(row))));
}

// Shows only the exercises whose name, title or chapter contains the text.
function filterRows(text) {
    const contains = e => e.textContent.toLowerCase().includes(text.trim().toLowerCase());
    for (const s of view.querySelectorAll("section")) {
        const is_chapter_found = contains(s.querySelector("h2"));
        for (const tr of s.querySelectorAll("tr")) tr.hidden = !(is_chapter_found || tr.querySelector("th") || contains(tr));
        s.hidden = !s.querySelector("tr:not([hidden]) td");
    }
    document.getElementById("none").hidden = !!view.querySelector("section:not([hidden])");
}

function finder() {
    const field = element("input", {type: "text", id: "find", placeholder: "Find an exercise: /", "aria-label": "find an exercise", oninput: () => filterRows(field.value)});
    field.onkeydown = e => {
        const found = e.key === "Enter" && view.querySelector("section:not([hidden]) tr:not([hidden]) a");
        if (found) location.hash = found.hash;
    };
    return field;
}

// A path is a selection of the book in an order of its own; the next exercise follows it.
function pathMenu(c) {
    const choose = async e => { await server.followPath(e.target.value); await showContents(); };
    const menu = element("select", {id: "path", onchange: choose}, element("option", {value: "book"}, "the whole book"),
        ...c.paths.map(p => element("option", {value: p.name}, p.title)));
    menu.value = c.path || "book";
    return element("label", null, "Path: ", menu);
}

function introduction(c) {
    return element("p.intro", null, ...(c.next ? ["Start with ", element("a", {href: `#/${c.next}`}, c.next.split("/")[1]), ", or pick any exercise. "] : []),
        "Read its lesson and task, change the code, press Ctrl-S: the grader checks each save and shows the next step. ",
        "New to CUDA? Choose the path of the first twelve exercises above. Words and counters: ",
        element("a", {href: documentAddress("student-guide"), target: "_blank"}, "student guide"), ", ",
        element("a", {href: documentAddress("glossary"), target: "_blank"}, "glossary"), ".");
}

function followedPath(c) {
    const p = c.paths.find(q => q.name === c.path), all = c.chapters.flatMap(ch => ch.exercises);
    return p ? exercises(p.title, p.steps.map(id => all.find(e => e.id === id)).filter(Boolean)) : "";
}

async function showContents() {
    open = null;
    document.title = "Warpbook";
    const c = await server.contents();
    if (open) return;
    bar.replaceChildren(element("h1", null, "Warpbook"), element("progress", {max: c.total, value: c.done, "aria-label": "exercises done"}),
        element("span", null, `${c.done} of ${c.total} done`),
        c.next && element("a.next", {href: `#/${c.next}`}, `Next: ${c.next}`), element("a", {href: "#/playground"}, "Playground"), pathMenu(c), finder(), connection());
    view.className = "wide";
    view.replaceChildren(introduction(c), element("p.dim", {id: "none", hidden: true, role: "status"}, "No exercise or chapter contains this text."), followedPath(c), ...c.chapters.map(ch => exercises(`${ch.id.slice(0, 2)} · ${ch.title || ch.id}`, ch.exercises)));
}

// ---- a document of docs/ ----

const documentAddress = (name, anchor) => `#/docs/${name}${anchor ? `/${anchor}` : ""}`;

function documentLink(name, url) {
    const [, file, anchor] = /^([\w-]+)?(?:\.md)?(?:#([\w-]+))?$/.exec(url) ?? [];
    if (/^https?:/.test(url)) return {href: url, external: true};
    return file || anchor ? {href: documentAddress(file ?? name, anchor)} : null;
}

async function showDocument(name, anchor) {
    const text = await server.documentText(name);
    bar.replaceChildren(element("a", {href: "#/"}, "Contents"), element("h1", null, name.replaceAll("-", " ")), connection());
    document.title = `${name} · Warpbook`;
    view.className = "wide md";
    view.replaceChildren(markdown(text, url => documentLink(name, url), () => null));
    document.getElementById(anchor)?.scrollIntoView();
}

const LOST = "no connection to grader serve; trying again …";
const connection = () => element("span.connection", {id: "connection", role: "status"}, has_lost_server ? LOST : "");

// ---- an exercise: state ----

// The texts: `base` is what the file held when the page last read or wrote it; `digest` names it.
class Exercise {
    constructor(data) {
        Object.assign(this, data, {tab: "Task", step: "", previous_score: null, fault: ""});
        this.eol = data.source.includes("\r\n") ? "\r\n" : "\n";
        this.base = this.normal(data.source);
    }
    normal(text) { return text.replaceAll("\r\n", "\n"); }
    text() { return this.editor ? this.editor.text() : this.base; }
    is_dirty() { return this.text() !== this.base; }
    draft_key() { return `warpbook draft ${this.id}`; }
    // A draft survives a reload of the page.
    storeDraft() {
        try {
            if (this.is_dirty()) localStorage.setItem(this.draft_key(), JSON.stringify({text: this.text(), digest: this.digest}));
            else localStorage.removeItem(this.draft_key());
        } catch { /* no storage: a reload loses the draft, as in any text field */ }
    }
    draft() {
        try { return JSON.parse(localStorage.getItem(this.draft_key())); } catch { return null; }
    }
}

async function showExercise(id, tab) {
    const data = await server.exercise(id);
    const x = open = new Exercise(data);
    queue = data.queue;
    if (tabsOf(x).includes(tab)) x.tab = tab;
    document.title = `${x.title} · Warpbook`;
    view.className = "work";
    x.parts = {text: element("div.text", {id: "text"}), code: element("div.code", {id: "code"}), result: element("div.results", {id: "result"}),
               tabs: element("nav.tabs", {"aria-label": "texts"}), body: element("div.md"), notice: element("div.notice", {role: "status"}),
               editor: element("div.editor"), unsaved: element("span.dim", {role: "status"}),
               again: button("Grade again", () => attempt(x, () => server.grade(x.id))), save: button("Save and grade", () => save(x), {title: "Ctrl-S"}),
               stop: button("Stop", () => attempt(x, () => server.stop()), {hidden: true, title: "ends the grading"}),
               line: element("section.line-view", {id: "line", "aria-live": "polite"})};
    x.parts.text.append(x.parts.tabs, x.parts.body);
    x.parts.code.append(element("div.tools", null, element("code", null, `chapters/${x.id}.cu`), x.parts.save,
        x.parts.again, x.parts.stop, deviceMenu(x), x.parts.unsaved), x.parts.notice, x.parts.editor);
    view.replaceChildren(x.parts.text, x.parts.code, x.parts.result);
    drawBar(x), drawText(x);
    x.editor = await createEditor(x.parts.editor, {onchange: () => { x.storeDraft(); drawState(x); }, onsave: () => save(x),
        onleave: () => x.parts.save.focus(), online: line => showLine(x, line)});
    if (open !== x) return;
    const draft = x.draft();
    x.editor.setText(x.base);
    if (draft && draft.text !== x.base) {
        x.editor.setText(draft.text);
        if (draft.digest !== x.digest) conflict(x, data.source, x.digest);
    }
    drawState(x), drawResult(x);
}

// Another device's result doesn't count as progress.
function deviceMenu(x) {
    const choose = e => { x.device = e.target.value; attempt(x, () => server.grade(x.id, x.device)); };
    const menu = element("select", {id: "device", "aria-label": "simulated GPU", onchange: choose}, ...x.devices.map(d => element("option", {value: d.name}, d.full_name)));
    if (!x.devices.some(d => d.name === x.device)) menu.prepend(element("option", {value: x.device}, x.device));
    menu.value = x.device;
    return element("label.device", null, "on ", menu);
}

async function attempt(x, action) {
    try {
        x.fault = "";
        return await action();
    } catch (e) {
        x.fault = e.message;
        if (open === x) drawState(x);
        return undefined;
    }
}

// ---- saving and conflicts ----

async function save(x) {
    const text = x.text();
    if (x.is_saving) x.saves_again = true;
    if (x.conflict || x.is_saving) return;
    if (!x.is_dirty()) return gradeUnchanged(x);
    x.is_saving = true;
    const answer = await attempt(x, () => server.save(x.id, text.replaceAll("\n", x.eol), x.digest));
    x.is_saving = false;
    if (answer?.conflict) return conflict(x, answer.conflict.source, answer.conflict.digest);
    if (!answer) return;
    x.base = text, x.digest = answer.digest;
    x.storeDraft();
    if (open === x) drawState(x), drawResult(x); // the result may be here already
    if (x.saves_again && x.is_dirty()) { x.saves_again = false; await save(x); }
    x.saves_again = false;
}

// A save without a change grades the file if its result isn't there, and else says so.
async function gradeUnchanged(x) {
    if (x.result?.digest !== x.digest) return await attempt(x, () => server.grade(x.id, x.device));
    x.parts.unsaved.textContent = "No change since the last grading.";
}

// Another program wrote the file while the page had changes: shows both; neither is lost.
function conflict(x, source, digest) {
    x.conflict = {text: x.normal(source), digest};
    drawState(x);
}

async function keepMine(x) {
    x.base = x.conflict.text, x.digest = x.conflict.digest, x.conflict = null;
    await save(x); // the server keeps the text that this replaces
}

async function takeTheirs(x) {
    const kept = await attempt(x, () => server.keep(x.id, x.text().replaceAll("\n", x.eol)));
    if (!kept) return;
    x.base = x.conflict.text, x.digest = x.conflict.digest, x.conflict = null;
    x.editor.setText(x.base);
    x.storeDraft();
    drawState(x), drawResult(x);
}

// Called when the file has changed on disk.
async function readAgain(x, digest) {
    if (x.is_saving || digest === x.digest || digest === x.conflict?.digest) return;
    const data = await attempt(x, () => server.exercise(x.id));
    if (!data || open !== x || data.digest === x.digest) return;
    if (x.is_dirty()) return conflict(x, data.source, data.digest);
    x.base = x.normal(data.source), x.digest = data.digest;
    x.editor.setText(x.base);
    drawState(x), drawResult(x);
}

// ---- an exercise: drawing ----

function drawBar(x) {
    const r = x.result, change = r && x.previous_score !== null ? r.score - x.previous_score : 0;
    x.parts.again.textContent = r ? "Grade again" : "Grade";
    x.parts.stop.hidden = !isGrading(queue.running, x);
    bar.replaceChildren(element("a", {href: "#/"}, "Contents"), element("h1", null, x.id),
        element("span.verdict", {id: "verdict", "aria-live": "polite"},
            r ? element(`b.${verdictClass(r.verdict)}`, null, `${r.verdict} (${r.verdict_text})`) : "",
            r && r.score !== null ? ` ${r.score.toFixed(1)} of ${r.max_score.toFixed(0)}` : "",
            r && r.device_name !== x.default_device ? element("span.dim", null, ` on ${r.device}`) : "",
            change ? element(`span.${change > 0 ? "good" : "bad"}`, {id: "change"}, ` ${change > 0 ? "+" : ""}${change.toFixed(1)}`) : ""),
        element("span.step", {id: "step"}, stepText(x)), connection());
}

const isGrading = (job, x) => job?.id === x.id && job.kind === "grade";

function stepText(x) {
    const running = queue.running, is_mine = job => isGrading(job, x);
    if (is_mine(running)) return `grading: ${x.step || "…"}`;
    if (queue.waiting.some(is_mine)) return running ? `waits for ${running.id}${running.kind === "grade" ? "" : ` (${running.kind})`}` : "waiting";
    return x.failure || (!x.result ? "not graded yet" : "");
}

function drawState(x) {
    const c = x.conflict;
    x.parts.save.disabled = !!c;
    x.parts.save.className = x.is_dirty() ? "primary" : "";
    x.parts.notice.replaceChildren(...[
        x.fault && element("p.bad", {role: "alert"}, x.fault),
        c && element("div.conflict", {id: "conflict"},
            element("p", null, element("strong", null, "Another program changed this file, and you changed it here. ")),
            element("p.dim", null, "− what the file holds now, + your version. The version that you don't take stays in History."),
            diffView(c.text, x.text()),
            button("Keep mine", () => keepMine(x)), button("Take the file's", () => takeTheirs(x))),
    ].filter(Boolean));
    x.parts.unsaved.textContent = !c && x.is_dirty() ? "Not saved yet: press Ctrl-S." : "";
    drawBar(x);
}

function drawResult(x) {
    const r = x.result;
    drawBar(x);
    x.editor?.show(r && r.digest === x.digest ? findingsOf(r) : [], r && r.digest === x.digest ? heatOf(r) : []);
    const is_old = r && r.digest !== x.digest;
    x.parts.result.replaceChildren(...(is_old ? [element("p.old", {role: "status"}, "This result is of an earlier version of the file.")] : []),
        ...(r ? [resultView(r, x.base, line => x.editor.goto(line), x.parts.line, r.verdict === "AC" ? afterwards(x) : null)] : []));
    if (r) showLine(x, is_old ? 0 : firstLine(r), true);
}

// Returns what to do after an accepted version: a look at the ladder, or the next exercise.
function afterwards(x) {
    const next = element("span");
    server.contents().then(c => c.next && next.replaceChildren("Go on to ", element("a", {href: `#/${c.next}`}, c.next), "."), () => {});
    return element("span", null, x.has_solution && element("span", null, "Compare with the ",
        button("steps of the ladder", () => showTab(x, "Solution"), {className: "link"}), ". "), next);
}

// Shows the line's view; of a line that has none, keeps the last one, unless `anew`.
function showLine(x, line, anew = false) {
    const shown = x.result && x.result.digest === x.digest && line ? lineView(x.result, x.base, line, l => x.editor.goto(l)) : [];
    if (shown.length || anew) x.parts.line.replaceChildren(...shown);
}

// Links between the book's texts become links of the page.
function link(x, url) {
    const exercise = /^(?:\.\.\/([\w-]+)\/)?([a-z]\w*)\.md$/.exec(url);
    if (/^https?:/.test(url)) return {href: url, external: true};
    const guide = /^(?:\.\.\/\.\.\/docs\/)?([\w-]+)\.md(?:#([\w-]+))?$/.exec(url);
    if (guide && url.startsWith("../../docs/")) return {href: documentAddress(guide[1], guide[2]), external: true};
    return exercise ? {href: `#/${exercise[1] || x.chapter}/${exercise[2]}`} : null;
}

function picture(x, url) {
    return /^[\w./-]+\.svg$/.test(url) && !url.includes("..") ? `chapters/${x.chapter}/${url}` : null;
}

const render = (x, text) => markdown(text, url => link(x, url), url => picture(x, url));

// The address names the tab, so that a reload shows it again.
function showTab(x, tab) {
    x.tab = tab;
    window.history.replaceState(null, "", `#/${x.id}${tab === "Task" ? "" : `/${tab}`}`);
    drawText(x);
}

const tabsOf = x => TABS.filter(t => (t !== "Solution" || x.has_solution) && (t !== "Quiz" || x.has_quiz));

function drawText(x) {
    const tabs = tabsOf(x);
    x.parts.tabs.replaceChildren(...tabs.map(t => button(t, () => showTab(x, t), {"aria-pressed": String(t === x.tab)})));
    const draw = {Task: () => render(x, x.task), Lesson: () => render(x, x.lesson), Hints: () => hints(x), History: () => history(x),
                  Solution: () => solution(x), Quiz: () => quizView(x, text => render(x, text), action => attempt(x, action)),
                  Tune: () => tuneView(x, () => x.is_dirty(), action => attempt(x, action))};
    x.parts.body.replaceChildren(draw[x.tab]());
}

// ---- hints, solution, history ----

// A question before something that can't be taken back.
function question(text, label, action, no) {
    return element("div.question", null, element("p", null, text), button(label, action), button("Not yet", no));
}

function hints(x) {
    const {shown, count} = x.hints, costs = heatOf(x.result).length > 0, box = element("div");
    box.append(...shown.map((h, i) => element("section", null, element("h3", null, `Hint ${i + 1} of ${count}`), render(x, h))));
    if (shown.length === count) box.append(element("p.dim", null, count ? "That was the last hint." : "This exercise has no hints."));
    else box.append(button(`Show hint ${shown.length + 1} of ${count}`, e => e.target.replaceWith(question(
        costs ? "Which line takes the most time, and why? If you have an idea, try it first."
              : "Have you read the lesson, and tried a version? A hint helps more after an attempt.", "Show the hint", async () => {
            x.hints = await attempt(x, () => server.hint(x.id)) ?? x.hints;
            drawText(x);
        }, () => drawText(x)))));
    return box;
}

function solution(x) {
    const box = element("div"), s = x.solution;
    if (!s) {
        box.append(question("You learn more from a version of your own. Show the model solution and the steps that lead to it?",
            "Show them", async () => {
                x.solution = await attempt(x, () => server.solution(x.id));
                drawText(x);
            }, () => showTab(x, "Task")));
        return box;
    }
    box.append(s.ladder ? render(x, s.ladder) : "", element("h2", null, "The model solution"), element("pre", {tabIndex: 0}, s.source));
    return box;
}

function history(x) {
    const box = element("div", {id: "history"}, element("p.dim", null, "Loading …"));
    attempt(x, () => server.history(x.id)).then(runs => runs && box.replaceChildren(historyTable(x, runs)));
    return box;
}

const dateOf = r => new Date(1000 * r.graded_at).toLocaleString(undefined, {dateStyle: "short", timeStyle: "short"});

async function textOf(x, digest) {
    const text = digest === "editor" ? x.text() : await attempt(x, () => server.version(x.id, digest));
    return text === undefined ? undefined : x.normal(text);
}

// Two menus choose the versions whose difference is shown.
function comparison(x, runs, difference) {
    const names = [["editor", "your code in the editor"], ...runs.filter(r => r.digest).toReversed().map(r => [r.digest,
        `${dateOf(r)} ${r.verdict === "-" ? "not graded" : `${r.verdict} ${r.score.toFixed(1)}`}`]), ["starter", "the starter file"]];
    const menu = id => element("select", {id, onchange: compare}, ...names.map(([value, name]) => element("option", {value}, name)));
    const from = menu("from"), to = menu("to");
    from.value = "starter";
    async function compare() {
        const [a, b] = await Promise.all([textOf(x, from.value), textOf(x, to.value)]);
        if (a !== undefined && b !== undefined) difference.replaceChildren(diffView(a, b));
    }
    return {compare: digest => { from.value = digest; to.value = "editor"; return compare(); },
            view: element("p.compare", null, element("label", null, "Compare ", from), element("label", null, " with ", to))};
}

function historyTable(x, {runs, plot}) {
    const box = element("div"), difference = x.difference ??= element("div"), timed = runs.filter(r => r.us > 0 && r.device === x.default_device),
        best = Math.min(...timed.map(r => r.us));
    const menus = comparison(x, runs, difference);
    const restore = async digest => {
        const text = await textOf(x, digest);
        if (text === undefined || x.conflict) return;
        x.editor.setText(text);
        x.storeDraft();
        await save(x);
        difference.replaceChildren(element("p.good", null, "Restored, saved. Your last version is in this list, too."));
    };
    const buttons = digest => element("td.w", null, button("Compare", () => menus.compare(digest)), button("Restore", () => restore(digest)));
    const rows = runs.toReversed().map(r => element("tr", null,
        element("td.w", null, dateOf(r), r.device !== x.default_device && element("div.dim", null, `on ${r.device}`)),
        element(`td.w.${r.verdict === "-" ? "dim" : verdictClass(r.verdict)}`, null, r.verdict === "-" ? "not graded" : r.verdict),
        element("td.n", null, r.verdict === "-" ? "" : r.score.toFixed(1)), element("td.n", null, time(r.us), timed.includes(r) && r.us === best ? " ★" : ""),
        r.digest ? buttons(r.digest) : element("td.dim", null, "no text kept")));
    box.append(drawing(plot), menus.view, difference, scrollTable("history",
        element("tr", null, ...["graded", "verdict", "points", "time", "text"].map((t, i) => element(i === 2 || i === 3 ? "th.n" : "th", null, t))), ...rows,
        element("tr", null, element("td", {colspan: "4"}, "the starter file"), buttons("starter"))));
    return box;
}

// ---- events ----

// A browser keeps few connections to one server, so a page that nobody sees gives its own back.
let events = null;
document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return events || listen();
    events?.close();
    events = null;
});

function listen() {
    events = new EventSource("api/events");
    const on = (name, handle) => events.addEventListener(name, e => handle(JSON.parse(e.data)));
    const isOpen = data => open?.id === data.id && open.editor;
    events.onopen = () => { has_lost_server = false; route(false); };
    events.onerror = () => {
        has_lost_server = true;
        document.getElementById("connection")?.replaceChildren(LOST);
        if (events?.readyState === EventSource.CLOSED) setTimeout(() => document.hidden || listen(), 3000); // the browser gave up
    };
    on("queue", data => { queue = data; if (open?.parts) drawBar(open); playEvent("queue", data); });
    on("step", data => { if (isOpen(data)) { open.step = data.step; drawBar(open); } });
    on("failure", data => {
        const is_sweep = queue.running?.kind === "tune"; // its failure is shown where its rows are
        if (open && (!data.id || data.id === open.id)) { open.failure = is_sweep ? "" : data.message; drawBar(open); addRow(open, data); }
        playEvent("failure", data);
    });
    on("answer", data => { if (isOpen(data)) showAnswer(open, data, text => render(open, text)); });
    on("row", data => { if (isOpen(data)) addRow(open, data); });
    on("swept", data => { if (isOpen(data)) addRow(open, {...data, is_end: true}); });
    on("played", data => playEvent("played", data));
    on("file", data => { if (isOpen(data)) readAgain(open, data.digest); });
    on("result", data => {
        if (!open) return route(false);
        if (!isOpen(data)) return;
        open.previous_score = open.result ? open.result.score : null;
        open.result = data, open.failure = "";
        drawResult(open);
        if (open.tab === "History") drawText(open);
    });
}

// Shows what the address names; `anew` false: the connection came back, so unsaved changes stay.
async function route(anew = true) {
    const [chapter, name, tab] = decodeURIComponent(location.hash.replace(/^#\/?/, "")).split("/"), id = name ? `${chapter}/${name}` : chapter;
    try {
        if (!anew && open && open.id === id) {
            const data = await server.exercise(id);
            document.getElementById("connection")?.replaceChildren("");
            queue = data.queue, open.fault = "";
            drawState(open);
            if (data.result) open.result = data.result, drawResult(open);
            return open.editor && await readAgain(open, data.digest);
        }
        if (chapter === "docs") return open = null, await showDocument(name, tab);
        if (id !== "playground") return await (id ? showExercise(id, tab) : showContents());
        if (anew) open = null, await showPlayground(bar, view, connection());
    } catch (e) {
        showFault(e);
    }
}

// The keyboard goes on in the new view, not at the top of the page. A new view begins at its top; the contents, where you left them.
const is_contents = url => /^#?\/?$/.test(new URL(url).hash);
let contents_top = 0;
window.addEventListener("hashchange", async e => {
    if (is_contents(e.oldURL)) contents_top = window.scrollY;
    await route();
    if (!location.hash.startsWith("#/docs/")) window.scrollTo(0, is_contents(e.newURL) ? contents_top : 0);
    if (!view.contains(document.activeElement)) view.focus({preventScroll: true});
});
window.addEventListener("keydown", e => {
    const field = document.getElementById("find"), is_typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    if (e.key === "/" && field && !is_typing) e.preventDefault(), field.focus();
    // Outside of the editor, too: the browser would offer to save the page.
    if (e.key === "s" && (e.ctrlKey || e.metaKey) && !e.defaultPrevented) {
        e.preventDefault();
        if (open?.editor) save(open);
        else savePlayground();
    }
});
window.addEventListener("beforeunload", e => { if (open?.editor && open.is_dirty()) { open.storeDraft(); e.preventDefault(); } });
route().then(listen);
