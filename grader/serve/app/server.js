// server.js: requests to the grader. Every path is relative, so the page also works below a proxy's prefix.

export class Refused extends Error {
    constructor(status, text) {
        super(text);
        this.status = status;
    }
}

async function request(method, path, id, options = {}) {
    const values = {...(id ? {id} : {}), ...options.query};
    const query = Object.keys(values).length ? "?" + new URLSearchParams(values) : "";
    let response;
    try {
        response = await fetch(path + query, {method, headers: options.headers, body: options.body});
    } catch {
        throw new Refused(0, "The server does not answer. Start it again with: grader serve. Unsaved text stays in this browser.");
    }
    if (response.status === 409) return {conflict: await response.json()};
    if (!response.ok) throw new Refused(response.status, (await response.text()).trim());
    return options.text ? response.text() : response.status === 202 ? null : response.json();
}

export const contents = () => request("GET", "api/contents");
export const exercise = id => request("GET", "api/exercise", id);
export const save = (id, body, digest) => request("PUT", "api/source", id, {body, headers: {"If-Match": digest}});
export const grade = (id, device) => request("POST", "api/grade", id, {query: device ? {device} : {}});
export const history = id => request("GET", "api/history", id);
export const version = (id, digest) => request("GET", "api/version", id, {query: {digest}, text: true});
export const keep = (id, body) => request("POST", "api/version", id, {body});
export const hint = id => request("POST", "api/hint", id);
export const solution = id => request("POST", "api/solution", id);
export const quiz = id => request("GET", "api/quiz", id);
export const answer = (id, question, body) => request("POST", "api/quiz", id, {query: {question}, body});
export const tune = id => request("POST", "api/tune", id);
export const classRows = () => request("GET", "api/class");
export const submission = (student, exercise) => request("GET", "api/submission", null, {query: {student, exercise}});
export const decide = (student, exercise, decision) =>
    request("POST", "api/decide", null, {query: {student, exercise}, body: JSON.stringify(decision)});
export const similar = exercise => request("GET", "api/similar", null, {query: exercise ? {exercise} : {}});
export const pair = (exercise, a, b) => request("GET", "api/pair", null, {query: {exercise, a, b}});
export const followPath = name => request("POST", "api/path", null, {query: {name}});
export const documentText = name => request("GET", `docs/${encodeURIComponent(name)}.md`, null, {text: true});
export const stop = () => request("POST", "api/stop");
export const playground = () => request("GET", "api/playground");
export const program = name => request("GET", "api/play", null, {query: {name}});
export const saveProgram = (name, body, digest) => request("PUT", "api/play", null, {query: {name}, body, headers: {"If-Match": digest}});
export const play = (name, device) => request("POST", "api/play", null, {query: {name, device}});
