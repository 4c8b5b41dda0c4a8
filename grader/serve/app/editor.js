// editor.js: the code. With CodeMirror if this system has it, else a text field with line numbers. Both show the cost of each line
// as heat and the findings at their lines.
import {element, withCode} from "./dom.js";

const FILES = ["codemirror/lib/codemirror.js", "codemirror/mode/clike/clike.js", "codemirror/addon/edit/matchbrackets.js",
               "codemirror/addon/edit/closebrackets.js", "codemirror/addon/comment/comment.js"];

function load(name, properties) {
    return new Promise((resolve, reject) => {
        const e = Object.assign(document.createElement(name), properties, {onload: resolve, onerror: reject});
        document.head.append(e);
    });
}

let library;
async function loadLibrary() {
    try {
        await load("link", {rel: "stylesheet", href: "codemirror/lib/codemirror.css"});
        for (const src of FILES) await load("script", {src});
        return window.CodeMirror;
    } catch {
        return null;
    }
}

const CODE_LABEL = "your code; Escape leaves the editor";

// Returns {text(), setText(text), show(findings, heat), goto(line), focus()}. `onchange()` follows every change by the user, `onsave()`
// Ctrl-S, `onleave()` Escape, `online(line)` a move to another line.
export async function createEditor(parent, calls) {
    library ??= loadLibrary();
    const CodeMirror = await library, all = {online() {}, ...calls};
    return CodeMirror ? withCodeMirror(CodeMirror, parent, all) : withTextField(parent, all);
}

export const heatClass = percent => percent >= 40 ? "h4" : percent >= 15 ? "h3" : percent >= 5 ? "h2" : percent >= 1 ? "h1" : "";

function heatTitle(line) {
    const stalls = line.stalls.slice(0, 3).map(s => `${s.reason} ${s.percent.toFixed(0)} %`).join(", ");
    return `${line.time_percent.toFixed(1)} % of the modelled time; ${stalls}`;
}

// Text that replaces a selection or has several lines, such as dictation, goes through CodeMirror's model. The browser would remove
// elements that CodeMirror draws, and the editor would stay empty. A composition can't be cancelled.
function insertThroughModel(cm, e) {
    const is_plain = e.inputType === "insertText" && e.cancelable && !e.isComposing && typeof e.data === "string";
    if (!is_plain || !cm.somethingSelected() && !e.data.includes("\n")) return;
    e.preventDefault();
    cm.replaceSelection(e.data, null, "+input");
}

function withCodeMirror(CodeMirror, parent, {onchange, onsave, onleave, online}) {
    const cm = CodeMirror(parent, {
        mode: "text/x-c++src", lineNumbers: true, indentUnit: 4, matchBrackets: true, autoCloseBrackets: true,
        gutters: ["CodeMirror-linenumbers", "findings", "heat"], inputStyle: "contenteditable", viewportMargin: 40, lineWrapping: true,
        extraKeys: {"Ctrl-S": onsave, "Cmd-S": onsave, "Ctrl-/": "toggleComment", "Cmd-/": "toggleComment",
                    Tab: c => c.somethingSelected() ? c.indentSelection("add") : c.execCommand("insertSoftTab"),
                    "Shift-Tab": "indentLess", Esc: onleave},
    });
    cm.getInputField().setAttribute("aria-label", CODE_LABEL);
    cm.getInputField().addEventListener("beforeinput", e => insertThroughModel(cm, e));
    let widgets = [], is_setting = false;
    cm.on("change", () => is_setting || onchange());
    cm.on("cursorActivity", () => is_setting || !cm.hasFocus() || online(cm.getCursor().line + 1));
    cm.on("gutterClick", (c, line) => online(line + 1));

    function clear() {
        widgets.forEach(w => w.clear());
        widgets = [];
        cm.clearGutter("findings");
        cm.clearGutter("heat");
        cm.eachLine(l => ["h1", "h2", "h3", "h4"].forEach(c => cm.removeLineClass(l, "text", c)));
    }
    function draw(findings, heat) {
        clear();
        for (const line of heat) {
            if (line.line > cm.lineCount() || !heatClass(line.time_percent)) continue;
            cm.setGutterMarker(line.line - 1, "heat", element("span.heat", {title: heatTitle(line)}, line.time_percent.toFixed(0) + " %"));
            cm.addLineClass(line.line - 1, "text", heatClass(line.time_percent));
        }
        for (const f of findings) {
            if (f.line > cm.lineCount()) continue;
            cm.setGutterMarker(f.line - 1, "findings", element(`span.${f.kind}`, {title: f.text}, f.kind === "bad" ? "✖" : "▲"));
            widgets.push(cm.addLineWidget(f.line - 1, element(`div.finding.${f.kind}`, null, ...withCode(f.text)), {noHScroll: true}));
        }
    }

    return {
        text: () => cm.getValue(),
        setText(text) {
            const at = cm.getCursor(), top = cm.getScrollInfo().top;
            is_setting = true;
            cm.setValue(text);
            is_setting = false;
            cm.setCursor(at);
            cm.scrollTo(null, top);
        },
        show(findings, heat) {
            const has_changed = parent.classList.contains("profiled") !== heat.length > 0;
            parent.classList.toggle("profiled", heat.length > 0);
            cm.operation(() => draw(findings, heat));
            if (has_changed) cm.refresh(); // the gutter's width
        },
        goto(line) {
            cm.setCursor(line - 1, 0);
            cm.scrollIntoView({line: line - 1, ch: 0}, 120);
            cm.focus();
            online(line);
        },
        focus: () => cm.focus(),
    };
}

function withTextField(parent, {onchange, onsave, onleave, online}) {
    const field = element("textarea", {spellcheck: false, wrap: "off", "aria-label": CODE_LABEL, autocapitalize: "off"});
    const numbers = element("div.numbers", {"aria-hidden": "true"}), list = element("div");
    let findings = [], heat = [];
    parent.append(element("div.field", null, numbers, field), list);

    function drawNumbers() {
        const count = field.value.split("\n").length, rows = [];
        for (let n = 1; n <= count; n++) {
            const hot = heat.find(l => l.line === n), found = findings.find(f => f.line === n);
            const mark = found ? (found.kind === "bad" ? "✖ " : "▲ ") : "";
            rows.push(element(["div", hot && heatClass(hot.time_percent), found?.kind].filter(Boolean).join("."),
                              {title: [found?.text, hot && heatTitle(hot)].filter(Boolean).join("\n")}, `${mark}${n}`));
        }
        numbers.replaceChildren(...rows);
        field.rows = count + 1;
    }
    field.oninput = () => { drawNumbers(); onchange(); };
    field.onclick = () => online(field.value.slice(0, field.selectionStart).split("\n").length);
    field.onkeydown = e => {
        if ((e.ctrlKey || e.metaKey) && e.key === "s") { e.preventDefault(); onsave(); }
        if (e.key === "Tab" && !e.shiftKey) { e.preventDefault(); document.execCommand("insertText", false, "    "); }
        if (e.key === "Escape") onleave();
    };
    return {
        text: () => field.value,
        setText(text) { field.value = text; drawNumbers(); },
        show(found, hot) {
            findings = found, heat = hot;
            drawNumbers();
            list.replaceChildren(...found.map(f => element(`div.finding.${f.kind}`, null, `line ${f.line}: `, ...withCode(f.text))));
        },
        goto(line) {
            const at = field.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1);
            field.focus();
            field.setSelectionRange(at, at);
            online(line);
        },
        focus: () => field.focus(),
    };
}
