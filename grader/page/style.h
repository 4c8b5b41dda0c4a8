/* style.h — the part of the style sheet that pictures need, in a page or in an SVG file: colours
 * for light and dark, CSS classes. */
#pragma once

#define STYLE_COLOURS                                                                              \
    ":root{color-scheme:light "                                                                    \
    "dark;--ink:#1c1c1c;--dim:#5a5a5a;--paper:#fff;--rule:#d4d4d4;--tint:#f4f4f2;--good:#1a7f37;"  \
    "--warn:#8a5200;--bad:#b3261e;--a:#767676;--b:#0b62c4;--c:#1a7f37;--d:#9a6700;--h:200,60,20;-" \
    "-p0:#4c78a8;--p1:#"                                                                           \
    "9ecae9;"                                                                                      \
    "--p2:#f58518;--p3:#ffbf79;--p4:#54a24b;--p5:#b279a2;--p6:#e8bd2c;--p7:#d6a5c9;--p8:#c0392b;-" \
    "-p9:#ff9d98;"                                                                                 \
    "--p10:#7a5c45;--p11:#2f9d8f;--p12:#b8b8b8}"                                                   \
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--dim:#a3a3a3;--paper:#141414;--rule:#" \
    "3c3c3c;--tint:#"                                                                              \
    "1e1e1e;"                                                                                      \
    "--good:#4ac26b;--warn:#e0a030;--bad:#ff7b72;--a:#a0a0a0;--b:#6cb0ff;--c:#4ac26b;--d:#e0b050;" \
    "--h:255,120,60}}"

/* Pictures are 360 units wide, so that on a phone of 360 px their text is as large as the page's.
 */
#define STYLE_SVG                                                                                  \
    "svg text{font:11px system-ui,sans-serif;fill:var(--ink)}svg "                                 \
    "text.small{font-size:8px;fill:var(--dim)}"                                                    \
    ".axis{stroke:var(--rule)}.roof,.line{stroke:var(--ink);stroke-width:2;fill:none}.naive{fill:" \
    "var(--a)}"                                                                                    \
    ".yours{fill:var(--b)}.solution{fill:var(--c)}.step{fill:none;stroke:var(--d);stroke-width:1." \
    "5}"                                                                                           \
    ".lane{fill:var(--b)}.used{fill:var(--b)}.again{fill:var(--p2)}.box{fill:none;stroke:var(--a)" \
    "}"                                                                                            \
    ".thread{stroke:var(--b);stroke-opacity:.35;fill:none}.bank{fill:var(--tint);stroke:var(--"    \
    "rule)}"                                                                                       \
    ".p0{fill:var(--p0)}.p1{fill:var(--p1)}.p2{fill:var(--p2)}.p3{fill:var(--p3)}.p4{fill:var(--"  \
    "p4)}.p5{fill:var(--"                                                                          \
    "p5)}"                                                                                         \
    ".p6{fill:var(--p6)}.p7{fill:var(--p7)}.p8{fill:var(--p8)}.p9{fill:var(--p9)}.p10{fill:var(--" \
    "p10)}.p11{fill:var("                                                                          \
    "--p11)}.p12{fill:var(--p12)}"                                                                 \
    ".paper{fill:var(--paper)}svg text.code{font:9px "                                             \
    "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans "                                     \
    "Mono',monospace}"
