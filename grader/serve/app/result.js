// result.js: shows a result: verdict and change, findings, cases, goals, speed, points lost, the profile of the lines.
import {element, button, time, number, verdictClass} from "./dom.js";
import {heatClass} from "./editor.js";

const escape = s => s.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

// Returns the lines of the student's file that a message names, as [line, …]: "transpose.cu:7: …, which … wrote in line 5".
function linesIn(text, file) {
    const found = [...text.matchAll(new RegExp(`(?:(?<![\\w/])${escape(file)}:|\\bline )(\\d+)`, "g"))].map(m => +m[1]);
    return text.includes(file) ? [...new Set(found)] : [];
}

function compilerFindings(r) {
    return [...r.log.matchAll(/^(\S+?)\((\d+)\): (error|warning)[^:\n]*: ?(.*)$/gm)].filter(m => m[1] === r.file)
        .map(m => ({line: +m[2], kind: m[3] === "error" ? "bad" : "warn", text: `${m[3]}: ${m[4]}`}));
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

const limit = t => `${t.metric} is ${number(t.value)}, limit ${number(t.limit)}`;

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
export const findingsOf = r => r ? [...compilerFindings(r), ...caseFindings(r), ...goalFindings(r)] : [];
export const heatOf = r => r?.profile?.lines ?? [];

export function nextStep(r) {
    return r.verdict === "AC" ? "Compare with the steps of the ladder, or go on to the next exercise."
        : r.verdict === "PART" ? "Look at the warmest lines of the profile; change what the missed goal counts."
        : r.verdict === "CE" ? "Mend the first error; the others often follow from it."
        : r.verdict === "IE" ? "The grader failed, not your code. Grade again."
        : "Mend the first failed case; a hint may help.";
}

function section(title, ...children) {
    return element("section", null, element("h3", null, title), ...children);
}

function cases(r) {
    const passed = r.cases.filter(c => c.verdict === "AC").length;
    if (!r.cases.length) return null;
    return section(`Correctness: ${passed} of ${r.cases.length} cases`, ...r.cases.filter(c => c.verdict !== "AC").map((c, i) =>
        element("details", {open: i === 0}, element("summary", null, element("strong.bad", null, c.verdict), ` case ${c.number || ""} ${c.name}`),
                element("pre", null, c.message))));
}

function goalRow(r, limits) {
    const {kind, name} = limits[0], is_passed = limits.every(t => t.passed), is_waived = !is_passed && r.waived && kind === "goal";
    return element("tr", null,
        element(`td.${is_passed ? "good" : is_waived ? "dim" : "warn"}`, null, is_passed ? "✔" : is_waived ? "waived" : "✘"),
        element("td", null, `${kind}: ${name}`, ...limits.map(t => element("div.dim", null, limit(t),
            t.baseline === null ? "" : `, baseline ${number(t.baseline)}`,
            t.progress > 0 && t.progress < 1 ? `, ${(100 * t.progress).toFixed(0)} % reached` : ""))));
}

const goals = r => r.technique.length ? section("Technique", element("table", null, ...checks(r.technique).map(c => goalRow(r, c)))) : null;

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
                (s.of_roofline > 0 ? `, ${(100 * s.of_roofline).toFixed(0)} % of the roofline` : "")));
}

function pointsLost(r) {
    if (!r.points_lost.length) return null;
    return section("Points lost", element("table", null, ...r.points_lost.map(p =>
        element("tr", null, element("td.n", null, p.points.toFixed(1)), element("td", null, p.reason)))),
        r.points_and_time && element("p", null, r.points_and_time));
}

// The warmest lines; a click goes to the line in the editor.
function profile(r, source, go) {
    const p = r.profile, text = source.split("\n");
    if (!p || !p.lines.length) return null;
    const warm = [...p.lines].sort((a, b) => b.time_percent - a.time_percent).slice(0, 12);
    const used = p.columns.map((c, i) => i).filter(i => warm.some(l => l.values[i] !== null));
    const head = element("tr", null, element("th.n", null, "line"), element("th.n", null, "time %"), element("th", null, "top stall reason"),
        ...used.map(i => element("th.n", {title: p.columns[i].description}, p.columns[i].name)));
    const rows = warm.map(l => element("tr", null,
        element("td.n", null, button(l.line, () => go(l.line), {className: "link", title: (text[l.line - 1] ?? "").trim()})),
        element(`td.n${heatClass(l.time_percent) && "." + heatClass(l.time_percent)}`, null, l.time_percent.toFixed(1)),
        element("td.w", {title: l.stalls.map(s => `${s.reason} ${s.percent.toFixed(1)} %`).join("\n")}, l.stalls[0]?.reason ?? ""),
        ...used.map(i => element("td.n", null, l.values[i] === null ? "" : number(l.values[i])))));
    return section("Profile: the warmest lines", element(".scroll", null, element("table", null, head, ...rows)));
}

// `source` is the text of the file; `go(line)` moves the editor.
export function resultView(r, source, go) {
    return element("div.result", null,
        r.first_failure && element(`p.first.${verdictClass(r.verdict)}`, null, r.first_failure),
        r.log && r.verdict === "CE" && element("pre", null, r.log),
        element("p", null, element("strong", null, "Next: "), nextStep(r)),
        profile(r, source, go), cases(r), goals(r), speed(r), pointsLost(r),
        r.log && r.verdict !== "CE" && section("Output", element("pre", null, r.log)),
        element("details", null, element("summary", null, "The report as text"), element("pre.report", null, r.report)));
}
