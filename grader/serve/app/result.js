// result.js: shows a result: verdict and change, findings, cases, goals, speed, points lost, the profile of the lines.
import {element, button, time, number, verdictClass, drawing, section, scrollTable, withCode} from "./dom.js";
import {heatClass} from "./editor.js";

const escape = s => s.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

// Returns the lines of the student's file that a message names, as [line, …]: "transpose.cu:7: …, which … wrote in line 5".
function linesIn(text, file) {
    const found = [...text.matchAll(new RegExp(`(?:(?<![\\w/])${escape(file)}:|\\bline )(\\d+)`, "g"))].map(m => +m[1]);
    return text.includes(file) ? [...new Set(found)] : [];
}

// Returns the messages that name a line of the file: nvcc writes "x.cu(7): error: …", its preprocessor "x.cu:7:2: error: …".
export function compilerFindings(log, file) {
    return [...log.matchAll(/^(\S+?)(?:\((\d+)\)|:(\d+)(?::\d+)?): (error|warning)[^:\n]*: ?(.*)$/gm)].filter(m => m[1] === file)
        .map(m => ({line: +(m[2] ?? m[3]), kind: m[4] === "error" ? "bad" : "warn", text: `${m[4]}: ${m[5]}`}));
}

// A message of a failed case may name two lines, such as both accesses of a race: the finding is at both.
function caseFindings(r) {
    const seen = new Set(), out = [];
    for (const c of r.cases.filter(c => c.verdict !== "AC")) {
        const text = c.message.split("\n")[0], lines = linesIn(c.message, r.file);
        const key = c.verdict + lines; // other cases fail there, too
        if (seen.has(key)) continue;
        seen.add(key);
        for (const line of lines)
            out.push({line, kind: "bad", text: `${c.verdict} ${text}` +
                      (lines.length > 1 ? ` (lines ${lines.join(" and ")})` : "")});
    }
    return out;
}

const limit = t => `${t.metric} is ${number(t.value)}${t.unit ? ` per ${t.unit}` : ""}, ${t.bound} ${number(t.limit)}`;

// Two limits of one counter that allow one value only become one limit.
const exact = limits => limits.flatMap((t, i) => {
    const partner = limits.findIndex(u => u.metric === t.metric && u.limit === t.limit && u.bound !== t.bound);
    if (partner < 0) return [t];
    return partner < i ? [] : [{...t, bound: "exactly", passed: t.passed && limits[partner].passed}];
});

// Limits of one check, as [[limit, …], …]: they are adjacent.
function checks(limits) {
    const out = [];
    for (const t of limits)
        if (out.length && out.at(-1)[0].name === t.name && out.at(-1)[0].kind === t.kind) out.at(-1).push(t);
        else out.push([t]);
    return out;
}

function goalFindings(r) {
    const missed = r.technique.filter(t => !t.passed && t.file === r.file && t.line && !(r.waived && t.kind === "goal"));
    return checks(missed).flatMap(c => [...new Set(c.map(t => t.line))].map(line => ({line, kind: "warn", text:
        `${c[0].kind === "goal" ? "goal not reached" : "guard failed"}: ${c[0].name}: ${c.filter(t => t.line === line).map(limit).join("; ")}`})));
}

// Returns {line, kind, text} for everything that belongs to a line of the file.
export const findingsOf = r => r ? [...compilerFindings(r.log, r.file), ...caseFindings(r), ...goalFindings(r)] : [];
export const heatOf = r => r?.profile?.lines ?? [];

const missedLimit = r => r.technique.find(t => !t.passed && !(r.waived && t.kind === "goal"));

function compileStep(wrong) {
    if (!wrong) return "Correct the first error; the others often follow from it.";
    const place = /expected a "[;)}]"/.test(wrong.text) ? `in line ${wrong.line} or before it` : `in line ${wrong.line}`;
    return `Correct the first error, ${place}; the others often follow from it.`;
}

// Returns the advice as text. Its "line N" becomes a button that leads there.
export function nextStep(r) {
    const missed = missedLimit(r), wrong = findingsOf(r).find(f => f.kind === "bad"), warm = heatOf(r).toSorted((a, b) => b.time_percent - a.time_percent)[0];
    if (r.verdict === "CE") return compileStep(wrong);
    if (r.verdict === "IE") return "The grader failed, not your code. Grade again.";
    if (r.verdict !== "PART" && wrong && r.cases.some(c => c.message.includes(`:${wrong.line} still says // TODO`)))
        return `Write the code that the TODO in line ${wrong.line} describes.`;
    if (r.verdict !== "PART") return wrong ? `Correct line ${wrong.line}; the first failed case below says what happens there.`
        : "Correct the first failed case below; a hint may help.";
    if (missed) return `Change ${missed.line && missed.file === r.file ? `line ${missed.line}` : "the access"}: ${limit(missed).replace(/, (?=[^,]*$)/, `, and "${missed.name}" requires `)}.`;
    return warm ? `Make line ${warm.line} cheaper: it takes ${warm.time_percent.toFixed(0)} % of the time, most of it ` +
        `${warm.stalls[0]?.reason ?? "issuing instructions"}.` : "Make it faster: compare with the model solution's time.";
}

const withLines = (text, go) => text.split(/\b(line \d+)/).map((part, i) =>
    i % 2 ? button(part, () => go(+part.slice(5)), {className: "link"}) : part);

function cases(r) {
    const passed = r.cases.filter(c => c.verdict === "AC").length;
    if (!r.cases.length) return null;
    return section(`Correctness: ${passed} of ${r.cases.length} cases`, ...r.cases.filter(c => c.verdict !== "AC").map((c, i) =>
        element("details", {open: i === 0}, element("summary", null, element("strong.bad", null, c.verdict), ` (${r.verdict_texts[c.verdict] ?? ""}) case${c.number ? ` ${c.number}` : ""}: ${c.name}`),
                element("pre", {tabIndex: 0}, c.message))));
}

function goalRow(r, limits) {
    const {kind, name} = limits[0], is_passed = limits.every(t => t.passed), is_waived = !is_passed && r.waived && kind === "goal";
    return element("tr", null,
        element(`td.${is_passed ? "good" : is_waived ? "dim" : "warn"}`, null, is_passed ? "✔" : is_waived ? "waived" : "✘"),
        element("td", null, `${kind}: ${name}`, ...exact(limits).map(t => element("div.dim", null, limit(t),
            t.baseline === null ? "" : `, baseline ${number(t.baseline)}`,
            t.progress > 0 && t.progress < 1 ? `, ${(100 * t.progress).toFixed(0)} % reached` : ""))));
}

const goals = r => r.technique.length ? section("Technique", scrollTable("technique", ...checks(r.technique).map(c => goalRow(r, c)))) : null;

function bar(label, us, longest, name) {
    const width = Math.max(1, Math.round(100 * us / longest));
    return element("div.time", null, element("span", null, label), element("progress", {max: 100, value: width, className: name, "aria-label": label}),
                   element("span.n", null, time(us)));
}

function speed(r) {
    const s = r.speed;
    if (!s) return null;
    const longest = Math.max(s.student_us, s.solution_us, s.baseline_us);
    return section(`Speed, ${s.kind}, ${r.device}`, bar("yours", s.student_us, longest, "yours"), bar("model solution", s.solution_us, longest, ""),
        s.baseline_us > 0 && bar("baseline", s.baseline_us, longest, ""),
        element("p.dim", null, `${s.vs_baseline.toFixed(2)}x the baseline's speed, ${s.vs_solution.toFixed(2)}x the model solution's` +
                (s.of_roofline > 0 ? `, ${(100 * s.of_roofline).toFixed(0)} % of the roofline` : "")),
        r.pictures.timeline && element("figure", null, drawing(r.pictures.timeline),
            element("figcaption", null, "When each stream's copies and kernels run (modelled). Bars above each other overlap in time.")),
        element("div.pictures", null,
            r.pictures.account && element("figure", null, drawing(r.pictures.account), element("figcaption", null, "Where the modelled time goes.")),
            r.pictures.roofline && element("figure", null, drawing(r.pictures.roofline),
                element("figcaption", null, "The roofline. Each circle is an attempt of yours."))));
}

function pointsLost(r) {
    if (!r.points_lost.length) return null;
    return section("Points lost", scrollTable("points lost", ...r.points_lost.map(p =>
        element("tr", null, element("td.n", null, p.points.toFixed(1)), element("td", null, p.reason)))),
        r.points_and_time && element("p", null, r.points_and_time));
}

// The warmest lines; a click goes to the line in the editor, and shows its accesses.
function profile(r, source, go) {
    const p = r.profile, text = source.split("\n");
    if (!p || !p.lines.length) return null;
    const warm = [...p.lines].sort((a, b) => b.time_percent - a.time_percent).slice(0, 12);
    const used = p.columns.map((c, i) => i).filter(i => warm.some(l => l.values[i] !== null));
    const head = element("tr", null, element("th.n", null, "line"), element("th.n", null, "time %"), element("th", null, "top stall reason"),
        ...used.map(i => element("th.n", {title: p.columns[i].description}, p.columns[i].name)));
    const rows = warm.map(l => element("tr", null,
        element("td.n", null, button(l.line, () => go(l.line), {className: "link", "aria-label": `line ${l.line}`, title: (text[l.line - 1] ?? "").trim()})),
        element(`td.n${heatClass(l.time_percent) && "." + heatClass(l.time_percent)}`, null, l.time_percent.toFixed(1)),
        element("td", {title: l.stalls.map(s => `${s.reason} ${s.percent.toFixed(1)} %`).join("\n")}, l.stalls[0]?.reason ?? ""),
        ...used.map(i => element("td.n", null, l.values[i] === null ? "" : number(l.values[i])))));
    const table = section("Profile: the warmest lines", scrollTable("profile", head, ...rows));
    table.classList.add("profile");
    return table;
}

function stallBars(l) {
    return l.stalls.slice(0, 4).filter(s => s.percent >= 1).map(s => element("div.time", null, element("span", null, s.reason),
        element("progress", {max: 100, value: Math.max(1, Math.round(s.percent)), "aria-label": s.reason}),
        element("span.n", null, `${s.percent.toFixed(0)} %`)));
}

// Shows one line: its counters, its stall reasons, and its accesses, lanes to sectors or banks.
export function lineView(r, source, number_, go) {
    const l = heatOf(r).find(h => h.line === number_), accesses = r.pictures.accesses.filter(a => a.line === number_);
    const found = findingsOf(r).filter(f => f.line === number_);
    if (!l && !accesses.length && !found.length) return [];
    const counters = l ? r.profile.columns.map((c, i) => [c, l.values[i]]).filter(([, v]) => v !== null) : [];
    return [element("h3", null, button(`Line ${number_}`, () => go(number_), {className: "link", title: "go to the line"})), element("pre.line", {tabIndex: 0}, (source.split("\n")[number_ - 1] ?? "").trim()),
        l && element("p.dim", null, `${l.time_percent.toFixed(1)} % of the modelled time; its `,
            element("a", {href: "#/docs/glossary/stall-reason", target: "_blank"}, "stall reasons"), ":"), ...(l ? stallBars(l) : []),
        counters.length > 0 && scrollTable("counters of the line", ...counters.map(([c, v]) =>
            element("tr", null, element("td.n", null, number(v)), element("td", null, `${c.name}: ${c.description}`)))),
        element("div.pictures", null, ...accesses.sort((a, b) => b.wasted - a.wasted).slice(0, 4).map(a =>
            element("figure", null, drawing(a.svg), element("figcaption", null, element("code", null, a.kernel), ` ${a.caption}`))))].filter(Boolean);
}

// Returns the line to show first: of a missed limit, else the warmest one with an access; 0 = none.
export function firstLine(r) {
    const missed = r.technique.find(t => !t.passed && t.line && t.file === r.file);
    const warm = heatOf(r).toSorted((a, b) => b.time_percent - a.time_percent).find(l => r.pictures.accesses.some(a => a.line === l.line));
    return findingsOf(r).find(f => f.kind === "bad")?.line ?? missed?.line ?? warm?.line ?? 0;
}

// `source` is the text of the file; `go(line)` moves the editor; `line` is a box for lineView(); `done` follows an accepted version.
export function resultView(r, source, go, line, done) {
    return element("div.result", null,
        r.first_failure && element(`p.first.${verdictClass(r.verdict)}`, null, ...withCode(r.first_failure)),
        element("p.next-step", null, element("strong", null, "Next: "), ...(done ? [done] : withLines(nextStep(r), go))),
        pointsLost(r),
        r.log && r.verdict === "CE" && element("pre", {tabIndex: 0}, r.log),
        line, profile(r, source, go), cases(r), goals(r), speed(r),
        r.log && r.verdict !== "CE" && section("Output", element("pre", {tabIndex: 0}, r.log)),
        element("details", null, element("summary", null, "The report as text"), element("pre.report", {tabIndex: 0}, r.report)));
}
