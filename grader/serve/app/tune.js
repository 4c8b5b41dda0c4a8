// tune.js: a sweep over the parameters that the file declares; its plot grows while it runs.
import {element, button, time, scrollTable} from "./dom.js";
import * as server from "./server.js";

const SVG = "http://www.w3.org/2000/svg", WIDTH = 360, HEIGHT = 150;

export function tuneView(x, is_dirty, attempt) {
    const t = x.sweep ??= {rows: [], box: element("div", {id: "sweep"})};
    const start = async () => {
        if (is_dirty()) return t.box.replaceChildren(element("p.warn", null, "Save first: the sweep reads the file."));
        Object.assign(t, {rows: [], is_running: true, message: ""});
        draw(t);
        await attempt(() => server.tune(x.id));
    };
    draw(t);
    return element("div", null, element("p", null, "A comment declares a parameter and its values: ", element("code", null, "// tune: TILE 8 16 32"),
        ". TILE is a constant of the file, ", element("code", null, "constexpr int TILE = 16;"), ". Each combination is checked and timed."),
        button("Run the sweep", start, {className: "primary"}), button("Stop", () => attempt(() => server.stop())), t.box);
}

// Adds a row of the running sweep, its end, or its failure.
export function addRow(x, data) {
    const t = x.sweep;
    if (!t?.is_running) return;
    if (data.message || data.is_end) t.is_running = false, t.message = data.message ?? "";
    else t.rows = [...t.rows.filter(r => r.index !== data.index), data];
    draw(t);
}

function draw(t) {
    if (!t.rows.length) return t.box.replaceChildren(element(`p.${t.message ? "bad" : "dim"}`, null, t.message || (t.is_running ? "The sweep begins …" : "")));
    const total = t.rows[0].total, timed = t.rows.filter(r => r.us > 0), best = timed.reduce((a, b) => (!a || b.us < a.us ? b : a), null);
    const rows = t.rows.toSorted((a, b) => (a.us || Infinity) - (b.us || Infinity)).map(r => element("tr", null, element("td", null, r.label, r.is_current ? element("span.dim", null, " (yours)") : ""),
        element(`td.${r.us > 0 ? "good" : "bad"}`, null, r.verdict), element("td.n", null, time(r.us), r === best ? " ★" : ""),
        element("td.dim", null, r.reason)));
    t.box.replaceChildren(element("p", {role: "status"}, `${t.rows.length} of ${total} on ${t.rows[0].device}`, t.is_running ? " …" : "",
            best ? `; best so far: ${best.label}, ${time(best.us)}` : ""),
        element("progress", {max: total, value: t.rows.length, "aria-label": "combinations done"}),
        t.message && element("p.bad", null, t.message), timed.length ? plot(timed, total, best) : "",
        scrollTable("combinations", element("tr", null, element("th", null, "combination"), element("th", null, "result"), element("th.n", null, "time"), element("th", null, "remark")), ...rows));
}

function shape(name, attributes, text) {
    const e = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    if (text !== undefined) e.textContent = text;
    return e;
}

// A bar for each combination, in the order of the file.
function plot(rows, total, best) {
    const longest = Math.max(...rows.map(r => r.us)), width = (WIDTH - 8) / total;
    const svg = shape("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT + 26}`, role: "img"});
    svg.append(shape("title", {}, `Times of ${rows.length} combinations; the best is ${best.label}`));
    for (const r of rows) {
        const height = Math.max(2, HEIGHT * r.us / longest), at = 4 + r.index * width;
        const bar = shape("rect", {class: r === best ? "solution" : r.is_current ? "yours" : "naive", x: at, y: 12 + HEIGHT - height, width: Math.max(1, width - 2), height});
        bar.append(shape("title", {}, `${r.label}: ${time(r.us)}`));
        svg.append(bar);
        if (total <= 12) svg.append(shape("text", {class: "small", x: at + width / 2, y: HEIGHT + 23, "text-anchor": "middle"}, r.label.replaceAll(/[A-Z_]+=/g, "")));
    }
    svg.append(shape("text", {class: "small", x: 4, y: 8}, `longest: ${time(longest)}; green: best, blue: your values`));
    return element("figure", null, svg, element("figcaption", null, "Time of each combination, in the order of the declaration."));
}
