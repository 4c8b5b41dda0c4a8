// dom.js: builds elements. All text is set as text, never parsed as HTML.

// element("p.dim", {title: "…"}, "text", child, …): a name, classes, properties, children.
export function element(what, properties, ...children) {
    const [name, ...classes] = what.split(".");
    const e = document.createElement(name || "div");
    e.className = classes.join(" ");
    for (const [key, value] of Object.entries(properties || {}))
        if (key.startsWith("aria-") || key === "role" || key === "colspan" || key === "for") e.setAttribute(key, value);
        else e[key] = value;
    e.append(...children.filter(c => c !== null && c !== undefined && c !== false));
    return e;
}

export function button(label, onclick, properties) {
    return element("button", {type: "button", onclick, ...properties}, label);
}

export function time(us) {
    return us >= 1e4 ? `${(us / 1e3).toPrecision(4)} ms` : us > 0 ? `${us.toPrecision(4)} µs` : "";
}

export function number(v) {
    return v === null || v === undefined ? "" : Math.abs(v) >= 1e4 ? v.toExponential(2) : String(+v.toPrecision(4));
}

export const verdictClass = v => v === "AC" ? "good" : v === "PART" || v === "UNSTABLE" || v === "FLAG" ? "warn" : "bad";

// Returns a message as text and code: what stands between backticks is code.
export const withCode = text => text.split("`").map((part, i) => i % 2 ? element("code", null, part) : part);

// Returns the elements of a picture that the grader drew: SVG and its legend, whose text it escaped. The page's policy lets no script
// of it run.
export function drawing(html) {
    const box = new DOMParser().parseFromString(html, "text/html").body, fragment = document.createDocumentFragment();
    fragment.append(...[...box.childNodes].map(n => document.adoptNode(n)));
    return fragment;
}

export function section(title, ...children) {
    return element("section", null, element("h3", null, title), ...children);
}

// A table that scrolls in its own box where the page is narrow; the keyboard can scroll it, too.
export function scrollTable(label, ...rows) {
    return element("div.scroll", {tabIndex: 0, role: "group", "aria-label": label}, element("table", null, ...rows));
}
