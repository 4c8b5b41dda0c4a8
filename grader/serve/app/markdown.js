// markdown.js: renders the Markdown that the book uses: headings, paragraphs, lists, code, tables, quotes, links, pictures.
// It builds elements and sets text, so a text can't bring script or HTML of its own.
import {element} from "./dom.js";

// `link(url)` returns {href} or {href, external} or null for a link that leads nowhere here; `picture(url)` an address or null.
export function markdown(text, link, picture) {
    const fragment = document.createDocumentFragment(), lines = text.split("\n"), references = new Map();
    for (const line of lines) {
        const found = definition.exec(line);
        if (found) references.set(found[1].toLowerCase(), found[2]);
    }
    fragment.append(...blocks(lines.filter(l => !definition.test(l)), {link, picture, references}));
    return fragment;
}

// Returns the name by which links reach a heading: lower case, hyphens for spaces, no other signs.
const anchor = text => text.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");

const definition = /^\[([^\]]+)\]: +(\S+)$/; // the address of [name]

const is_blank = line => !line.trim();
const item = /^( {0,3})([-*]|\d+\.) +(.*)$/;
const starts_block = line => /^(#{1,6} |```|> ?|\|)/.test(line) || item.test(line);

function blocks(lines, context) {
    const out = [];
    for (let i = 0; i < lines.length;) {
        const line = lines[i];
        if (is_blank(line)) i++;
        else i = block(lines, i, out, context);
    }
    return out;
}

// Appends the block that begins in line i; returns the line after it.
function block(lines, i, out, context) {
    const line = lines[i];
    if (line === "<!---->") return i + 1; // it ended a list
    const heading = /^(#{1,6}) (.*)$/.exec(line);
    if (heading) {
        const h = element(`h${Math.min(6, heading[1].length + 1)}`, null, ...inline(heading[2], context));
        h.id = anchor(h.textContent);
        out.push(h);
        return i + 1;
    }
    if (line.startsWith("```")) return take(lines, i + 1, l => !l.startsWith("```"), found => out.push(code(found)), 1);
    if (line.startsWith("    ")) return indented(lines, i, out);
    if (line.startsWith(">")) {
        return take(lines, i, l => l.startsWith(">"), found =>
            out.push(element("blockquote", null, ...blocks(found.map(l => l.replace(/^> ?/, "")), context))));
    }
    if (line.startsWith("|")) return take(lines, i, l => l.startsWith("|"), found => out.push(table(found, context)));
    if (item.test(line)) return list(lines, i, out, context);
    let end = i + 1;
    while (end < lines.length && !is_blank(lines[end]) && !starts_block(lines[end])) end++;
    out.push(element("p", null, ...inline(lines.slice(i, end).join("\n"), context)));
    return end;
}

function take(lines, i, belongs, use, skip = 0) {
    let end = i;
    while (end < lines.length && belongs(lines[end])) end++;
    use(lines.slice(i, end));
    return end + skip;
}

// A long name breaks after an underscore where the page is narrow.
const breakable = name => name.split(/(?<=\w_)(?=\w)/).flatMap((part, i) => i ? [element("wbr"), part] : [part]);

const code = lines => element("pre", {tabIndex: 0}, element("code", null, lines.join("\n")));

function indented(lines, i, out) {
    let end = i;
    while (end < lines.length && (lines[end].startsWith("    ") || is_blank(lines[end]))) end++;
    out.push(code(lines.slice(i, end).map(l => l.slice(4)).join("\n").trimEnd().split("\n")));
    return end;
}

function list(lines, i, out, context) {
    const ordered = /\d/.test(item.exec(lines[i])[2]), items = [];
    while (i < lines.length && item.test(lines[i])) {
        const [, lead, marker, first] = item.exec(lines[i]), found = [first];
        const indent = lead.length + marker.length + 1;
        for (i++; i < lines.length; i++) {
            const is_inside = lines[i].startsWith(" ".repeat(indent));
            const is_lazy = !is_blank(lines[i]) && !starts_block(lines[i]) && !is_blank(lines[i - 1]);
            const is_gap = is_blank(lines[i]) && (lines[i + 1] || "").startsWith(" ".repeat(indent));
            if (!is_inside && !is_lazy && !is_gap) break;
            found.push(is_inside ? lines[i].slice(indent) : lines[i]);
        }
        items.push(element("li", null, ...tight(blocks(found, context))));
        if (i < lines.length && is_blank(lines[i]) && item.test(lines[i + 1] || "")) i++;
    }
    const start = ordered ? {start: parseInt(item.exec(lines[i - 1])?.[2], 10) || 1} : null;
    out.push(element(ordered ? "ol" : "ul", ordered && items.length === 1 ? start : null, ...items));
    return i;
}

// The text of an item stands without a paragraph around it.
const tight = found => found[0]?.tagName === "P" ? [...found[0].childNodes, ...found.slice(1)] : found;

function table(lines, context) {
    const cells = line => line.replace(/^\||\|\s*$/g, "").split(/(?<!\\)\|/).map(c => c.trim());
    const row = (line, name) => element("tr", null, ...cells(line).map(c => element(name, null, ...inline(c, context))));
    return element(".scroll", {tabIndex: 0}, element("table", null, row(lines[0], "th"), ...lines.slice(2).map(l => row(l, "td"))));
}

function anchorTo(url, text, c) {
    const to = c.link(url), inside = inline(text, c);
    return to ? element("a", {href: to.href, ...(to.external ? {target: "_blank", rel: "noreferrer"} : {})}, ...inside)
              : element("span", null, ...inside);
}

const spans = [
    [/^(`+)([\s\S]*?[^`])\1(?!`)/, m => element("code", null, ...breakable(m[2]))],
    [/^!\[([^\]]*)\]\(([^)\s]+)\)/, (m, c) => {
        const src = c.picture(m[2]);
        return src ? element("img", {src, alt: m[1], loading: "lazy"}) : m[1];
    }],
    [/^\[((?:[^\]`]|`[^`]*`)*)\]\(([^)\s]+)\)/, (m, c) => anchorTo(m[2], m[1], c)],
    [/^\[([^\]`]+)\](?:\[([^\]]*)\])?/, (m, c) => {
        const url = c.references.get((m[2] || m[1]).replace(/\s+/g, " ").toLowerCase());
        return url ? anchorTo(url, m[1], c) : m[0];
    }],
    [/^\*\*((?:[^*]|\*(?!\*))+)\*\*/, (m, c) => element("strong", null, ...inline(m[1], c))],
    [/^\*([^*\s](?:[^*]*[^*\s])?)\*/, (m, c) => element("em", null, ...inline(m[1], c))],
    [/^<(https?:[^>\s]+)>/, m => element("a", {href: m[1], target: "_blank", rel: "noreferrer"}, m[1])],
    [/^\\([^\w\s])/, m => m[1]],
    [/^\\\n/, () => element("br")],
];

function inline(text, context) {
    const out = [];
    let plain = "";
    for (let i = 0; i < text.length;) {
        const rest = text.slice(i);
        const found = /[`!\[*<\\]/.test(rest[0]) && spans.map(([p, make]) => [p.exec(rest), make]).find(([m]) => m);
        if (!found) {
            plain += rest[0];
            i++;
            continue;
        }
        if (plain) out.push(plain);
        plain = "";
        out.push(found[1](found[0], context));
        i += found[0][0].length;
    }
    if (plain) out.push(plain);
    return out;
}
