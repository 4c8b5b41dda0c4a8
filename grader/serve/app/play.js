// play.js: the playground: programs with a main of their own, in playground/ of the workspace, run with simgpu in the sandbox.
import {element, button, number, scrollTable, section, withCode} from "./dom.js";
import {createEditor} from "./editor.js";
import {compilerFindings} from "./result.js";
import * as server from "./server.js";

const FIRST = `#include <cstdio>

__global__ void scale(float *x, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}

int main() {
    const int n = 1 << 16;
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    scale<<<n / 256, 256>>>(x, 2, n);
    float first;
    cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost);
    printf("x[0] = %g\\n", first);
    cudaFree(x);
}
`;
let page = null; // the open playground

export async function showPlayground(bar, view, connection) {
    const data = await server.playground();
    document.title = "Playground · Warpbook";
    const p = page = {bar, connection, ...data, name: data.programs[0] ?? "hello.cu", base: "", digest: "new", running: ""};
    p.parts = {step: element("span.step", {id: "step", role: "status"}), files: element("select", {onchange: e => openProgram(p, e.target.value)}),
        device: element("select", {"aria-label": "simulated GPU", onchange: e => { p.device = e.target.value; }}, ...p.devices.map(d => element("option", {value: d.name}, d.full_name))),
        run: button("Save and run", () => run(p), {title: "Ctrl-S", className: "primary"}), editor: element("div.editor"), notice: element("div.notice", {role: "status"}), output: element("div.results", {id: "result"})};
    p.parts.device.value = p.device;
    bar.replaceChildren(element("a", {href: "#/"}, "Contents"), element("h1", null, "Playground"), p.parts.step, connection);
    view.className = "play";
    view.replaceChildren(element("div.code", {id: "code"}, element("div.tools", null,
            element("label", null, "program ", p.parts.files), button("New", () => create(p)), button("Save", () => save(p)),
            p.parts.run, button("Stop", () => attempt(p, () => server.stop())),
            element("label.device", null, "on ", p.parts.device)), p.parts.notice, p.parts.editor), p.parts.output);
    p.editor = await createEditor(p.parts.editor, {onchange: () => { storeDraft(p); notice(p, "Not saved yet."); }, onsave: () => run(p), onleave: () => p.parts.run.focus()});
    await openProgram(p, p.name);
}

function notice(p, text, kind = "dim") {
    p.parts.notice.replaceChildren(text ? element(`p.${kind}`, null, text) : "");
}

async function attempt(p, action) {
    try {
        return await action();
    } catch (e) {
        notice(p, e.message, "bad");
        return undefined;
    }
}

function listFiles(p) {
    const names = p.programs.includes(p.name) ? p.programs : [...p.programs, p.name];
    p.parts.files.replaceChildren(...names.map(name => element("option", {value: name, selected: name === p.name}, name)));
    p.parts.files.value = p.name;
}

// A draft survives another view and a reload, as that of an exercise does.
const draftKey = name => `warpbook program ${name}`;

function storeDraft(p) {
    try {
        if (p.editor.text() !== p.base) localStorage.setItem(draftKey(p.name), JSON.stringify({text: p.editor.text(), digest: p.digest}));
        else localStorage.removeItem(draftKey(p.name));
    } catch { /* no storage: the text lives as long as the view */ }
}

function draftOf(name) {
    try { return JSON.parse(localStorage.getItem(draftKey(name))); } catch { return null; }
}

async function openProgram(p, name) {
    if (p.base !== p.editor.text() && !await save(p)) return listFiles(p);
    const found = p.programs.includes(name) ? await attempt(p, () => server.program(name)) : {source: FIRST, digest: "new"};
    if (!found) return listFiles(p);
    Object.assign(p, {name, base: found.source, digest: found.digest});
    const draft = draftOf(name);
    if (draft) p.digest = draft.digest; // a save shows a conflict if the file has changed since
    p.editor.setText(draft?.text ?? found.source);
    p.editor.show([], []);
    p.parts.output.replaceChildren(element("p.dim", null, "Run the program to see its output, findings, times and counters here."));
    listFiles(p), notice(p, draft ? "Not saved yet." : "");
}

async function create(p) {
    let i = 1;
    while (p.programs.includes(`program${i}.cu`)) i++;
    const field = element("input", {type: "text", value: `program${i}.cu`, size: 20, "aria-label": "name of the new program"});
    const accept = async () => { notice(p, ""); await openProgram(p, field.value.endsWith(".cu") ? field.value : field.value + ".cu"); };
    field.onkeydown = e => { if (e.key === "Enter") accept(); };
    p.parts.notice.replaceChildren(element("p", null, element("label", null, "Name: ", field), " ", button("Create", accept)));
    field.focus();
}

async function save(p) {
    const text = p.editor.text(), answer = await attempt(p, () => server.saveProgram(p.name, text, p.digest));
    if (answer?.conflict) {
        // The text of the other program is one click away; nothing is overwritten.
        p.parts.notice.replaceChildren(element("div.conflict", null, element("p", null, "Another program changed this file."),
            button("Keep mine", () => { p.digest = answer.conflict.digest; save(p); }),
            button("Take the file's", () => { Object.assign(p, {base: answer.conflict.source, digest: answer.conflict.digest});
                                              p.editor.setText(p.base); storeDraft(p); notice(p, ""); })));
        return false;
    }
    if (!answer) return false;
    Object.assign(p, {base: text, digest: answer.digest});
    storeDraft(p);
    if (!p.programs.includes(p.name)) p.programs = [...p.programs, p.name].sort();
    listFiles(p), notice(p, "");
    return true;
}

async function run(p) {
    if (!await save(p)) return;
    if (p.parts.output.querySelector(".first")) p.parts.output.prepend(element("p.old", null, "The program runs. This is the last run's result."));
    await attempt(p, () => server.play(p.name, p.device));
}

// Ctrl-S outside of the editor.
export function savePlayground() {
    if (page?.parts.editor.isConnected) run(page);
}

// Called for every event; those of another program are not shown.
export function playEvent(name, data) {
    const p = page;
    if (!p?.parts.editor.isConnected) return;
    if (name === "queue") {
        const is_mine = job => job?.kind === "play" && job.id === p.name;
        p.parts.step.textContent = is_mine(data.running) ? "building and running …" : data.waiting.some(is_mine) ? `waits for ${data.running?.id}` : "";
    }
    if (name === "failure" && (!data.id || data.id === p.name)) notice(p, data.message, "bad"), p.parts.output.querySelector(".old")?.remove();
    if (name === "played" && data.id === p.name) show(p, data);
}

// simgpu writes "simgpu: race: … (program.cu:12)".
function findings(p, output) {
    const name = p.name.replaceAll(".", "\\."), found = new Map();
    for (const line of output.split("\n").filter(l => l.startsWith("simgpu: ")))
        for (const m of line.matchAll(new RegExp(`${name}:(\\d+)|\\bline (\\d+)`, "g")))
            found.set((m[1] ?? m[2]) + line, {line: +(m[1] ?? m[2]), kind: "bad", text: line.slice(8)});
    return [...compilerFindings(output, p.name), ...found.values()];
}

function countersView(c) {
    const launches = c?.launches ?? [];
    return launches.slice(0, 20).map(l => element("details", {open: launches.length === 1}, element("summary", null, element("code", null, l.kernel), ` grid ${l.grid.join(" × ")}, block ${l.block.join(" × ")}`),
        scrollTable(`counters of ${l.kernel}`, ...Object.entries(l.counters).filter(([, v]) => v).map(([key, v]) =>
            element("tr", null, element("td", null, element("code", null, key)), element("td.n", null, Number.isInteger(v) ? v.toLocaleString("en") : number(v)))))));
}

function show(p, data) {
    const found = findings(p, data.output);
    p.editor.show(found, []);
    const report = data.report && element("a", {href: URL.createObjectURL(new Blob([data.report], {type: "text/html"})), download: p.name.replace(/cu$/, "html")}, "Save the report");
    p.parts.output.replaceChildren(...[
        element(`p.first.${data.end === "exit status 0" && !found.length ? "good" : "bad"}`, null, data.end),
        ...found.slice(0, 10).map(f => element("p", null, button(`line ${f.line}`, () => p.editor.goto(f.line), {className: "link"}), " ", ...withCode(f.text))),
        section("Output", element("pre", {tabIndex: 0}, data.output || "(no output)")),
        data.counters?.launches?.length > 0 && section("Counters", ...countersView(data.counters)),
        report && element("p", null, report, " (one page: times, access patterns, hot lines)")].filter(Boolean));
}
