/* Talking to the server: JSON both ways, the token where one is asked for, and messages to the reader. */

const status = document.getElementById("status");
const tokenForm = document.getElementById("token-form");
const tokenField = document.getElementById("token");
const SECONDS = 5;
let fading = 0;
let waiting = null; // all requests that lack the token wait for the same form

/** An answer that is a refusal: `status`, `code` and a message for people. */
export class Refused extends Error {
  constructor(answer, fault) {
    super(fault.message);
    this.status = answer.status;
    this.code = fault.code;
  }
}

/** Say something without taking the focus; it goes away by itself, or when something else is said. */
export function say(message) {
  tell(message, "");
  if (message) fading = setTimeout(() => tell("", ""), SECONDS * 1000);
}

/** Tell readers of screens what others see anyway. */
export function announce(message) {
  tell(message, "unseen");
}

/** Say that something went wrong; it stays until something else is said. */
export function complain(error) {
  if (error.name !== "AbortError") tell(error.message, "error");
}

function tell(message, kind) {
  clearTimeout(fading);
  status.textContent = message;
  status.className = `status ${kind}`;
}

/** GET a JSON answer. */
export async function get(path, signal) {
  return (await send(path, { signal })).json();
}

/** POST a value and get a JSON answer. */
export async function post(path, value, signal) {
  const body = JSON.stringify(value ?? {});
  return (await send(path, { method: "POST", body, headers: { "Content-Type": "application/json" }, signal })).json();
}

/** Send a request, with the token if there is one, and ask for it where the server does. */
export async function send(path, options) {
  for (;;) {
    const token = sessionStorage.getItem("token");
    const headers = { ...options.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
    let answer;
    try {
      answer = await fetch(path, { ...options, headers });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error("The server does not answer; is it still running?");
    }
    if (answer.ok) return answer;
    if (answer.status !== 401) throw new Refused(answer, await fault(answer));
    await askForToken(token);
  }
}

async function fault(answer) {
  try {
    const { code, message } = (await answer.json()).error;
    return { code, message };
  } catch {
    return { code: "unknown", message: `The server answered ${answer.status} ${answer.statusText}.` };
  }
}

function askForToken(refused) {
  if (refused && refused === sessionStorage.getItem("token")) {
    sessionStorage.removeItem("token");
    complain(new Error("The server does not take this token."));
  }
  waiting ??= new Promise((resolve) => {
    tokenForm.hidden = false;
    tokenField.focus();
    tokenForm.addEventListener(
      "submit",
      (event) => {
        event.preventDefault();
        sessionStorage.setItem("token", tokenField.value.trim());
        tokenField.value = "";
        tokenForm.hidden = true;
        waiting = null;
        say("");
        resolve();
      },
      { once: true },
    );
  });
  return waiting;
}
