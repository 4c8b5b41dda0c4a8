// diff.js: compares two texts by lines (longest common subsequence) and shows the differences.
import {element} from "./dom.js";

const MAX_CELLS = 4e6; // of the table; larger differences are shown as one block

// Returns [sign, line] for each line: "-" only in a, "+" only in b, " " in both.
export function compare(a, b) {
    const x = a.split("\n"), y = b.split("\n"), head = [], tail = [];
    while (x.length && y.length && x[0] === y[0]) head.push([" ", x.shift()]), y.shift();
    while (x.length && y.length && x.at(-1) === y.at(-1)) tail.unshift([" ", x.pop()]), y.pop();
    return [...head, ...middle(x, y), ...tail];
}

function middle(x, y) {
    const n = x.length, m = y.length, width = m + 1;
    if (n * m > MAX_CELLS) return [...x.map(l => ["-", l]), ...y.map(l => ["+", l])];
    const length = new Uint32Array((n + 1) * width), out = [];
    for (let i = n - 1; i >= 0; i--)
        for (let k = m - 1; k >= 0; k--)
            length[i * width + k] = x[i] === y[k] ? length[(i + 1) * width + k + 1] + 1
                                                  : Math.max(length[(i + 1) * width + k], length[i * width + k + 1]);
    for (let i = 0, k = 0; i < n || k < m;) {
        if (i < n && k < m && x[i] === y[k]) out.push([" ", x[i++]]), k++;
        else if (k === m || (i < n && length[(i + 1) * width + k] >= length[i * width + k + 1])) out.push(["-", x[i++]]);
        else out.push(["+", y[k++]]);
    }
    return out;
}

// Shows the differences with three lines around each.
export function diffView(a, b) {
    const lines = compare(a, b), shown = lines.map(() => false), rows = [];
    lines.forEach(([sign], i) => {
        if (sign !== " ") for (let k = Math.max(0, i - 3); k <= i + 3 && k < lines.length; k++) shown[k] = true;
    });
    if (!shown.includes(true)) return element("p.dim", null, "The texts are equal.");
    lines.forEach(([sign, line], i) => {
        if (shown[i]) rows.push(element(sign === "+" ? "div.added" : sign === "-" ? "div.removed" : "div", null, `${sign} ${line}`));
        else if (i === 0 || shown[i - 1]) rows.push(element("div.dim", null, "…"));
    });
    return element("pre.diff", {tabIndex: 0}, ...rows);
}
