// quiz.js: a chapter's questions. The server judges each answer, and counts on the simulated GPU where a question says so.
import {element, button} from "./dom.js";
import * as server from "./server.js";

const CHOICE = /^- ([a-z])\. (.*)$/gm;

export function quizView(x, render, attempt) {
    const box = element("div", {id: "quiz"}, element("p.dim", null, "Loading …"));
    const ready = x.quiz ? Promise.resolve(x.quiz) : attempt(() => server.quiz(x.id));
    ready.then(quiz => {
        if (!quiz) return;
        x.quiz = quiz;
        box.replaceChildren(element("p", null, "Answer before you read the lesson. A wrong guess teaches more than an answer that you looked up."),
            ...quiz.questions.map((q, i) => questionView(x, q, i + 1, render, attempt)));
    });
    return box;
}

function questionView(x, q, number, render, attempt) {
    const [title, ...rest] = q.text.replace(/^\d+\. /, "").split("\n"), text = rest.join("\n");
    const form = element("form", {onsubmit: e => { e.preventDefault(); send(); }}), name = `question-${number}`;
    const reply = element("div.reply", {"aria-live": "polite", id: `reply-${number}`});
    if (q.choices) {
        for (const [, letter, choice] of text.matchAll(CHOICE))
            form.append(element("label.choice", null, element("input", {type: "radio", name, value: letter}), element("span", null, `${letter}. `, render(choice))));
    } else form.append(element("label", null, "Your answer: ", element("input", {type: "text", name, size: 10, autocomplete: "off", inputMode: "decimal"})));
    form.append(" ", element("button", {type: "submit"}, "Answer"));
    async function send() {
        const answer = new FormData(form).get(name);
        if (!answer) return reply.replaceChildren(element("p.warn", null, "Choose or type an answer first."));
        reply.replaceChildren(element("p.dim", null, "Checking …"));
        await attempt(() => server.answer(x.id, number, answer));
    }
    if (x.answers?.[number]) reply.append(answerView(x.answers[number], render));
    return element("section.question-view", null, element("h3", null, `${number}. ${title}`), render(q.choices ? text.replaceAll(CHOICE, "") : text), form, reply);
}

function answerView(a, render) {
    if (a.error) return element("p.warn", null, a.error);
    const counted = a.is_counted ? `, counted by the simulated GPU (${a.counter}${a.denominator && ` / ${a.denominator}`} in ${a.file})` : "";
    return element("div", null, element(`p.${a.is_correct ? "good" : "bad"}`, null, element("strong", null, a.is_correct ? "Right: " : "No: "),
        `it is ${a.expected}${counted}.`), render(a.explanation));
}

export function showAnswer(x, data, render) {
    (x.answers ??= {})[data.question] = data.error ? null : data;
    document.getElementById(`reply-${data.question}`)?.replaceChildren(answerView(data, render));
}
