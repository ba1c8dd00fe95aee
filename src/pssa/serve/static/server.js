/* Requests to the server, the token it may require, and messages to the reader. */

const status = document.getElementById("status");
const tokenForm = document.getElementById("token-form");
const tokenField = document.getElementById("token");
const SECONDS = 5;
takeTokenFromAddress();
let fading = 0;
let waiting = null; // all requests that lack the token wait for the same form

/** An error response: `status`, `code` and a message for people. */
export class ApiError extends Error {
  constructor(answer, fault) {
    super(fault.message);
    this.status = answer.status;
    this.code = fault.code;
  }
}

/** Keep the token of an address such as `/evidence#token=TOKEN`, which the server prints when it starts, and hide it. */
function takeTokenFromAddress() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return;
  sessionStorage.setItem("token", token);
  history.replaceState(null, "", location.pathname + location.search);
}

/** Show a message without taking the focus, for a few seconds or until the next one. */
export function showMessage(message) {
  setStatus(message, "");
  if (message) fading = setTimeout(() => setStatus("", ""), SECONDS * 1000);
}

/** Tell screen readers what others can see. */
export function announce(message) {
  setStatus(message, "unseen");
}

/** Show an error until the next message. */
export function showError(error) {
  if (error.name !== "AbortError") setStatus(error.message, "error");
}

function setStatus(message, kind) {
  clearTimeout(fading);
  status.textContent = message;
  status.className = `status ${kind}`;
}

/** GET JSON. */
export async function get(path, signal) {
  return (await send(path, { signal })).json();
}

/** POST a value as JSON and return the JSON response. */
export async function post(path, value, signal) {
  const body = JSON.stringify(value ?? {});
  return (await send(path, { method: "POST", body, headers: { "Content-Type": "application/json" }, signal })).json();
}

/** Send a request with the token, if there is one; ask for the token if the server requires it. */
export async function send(path, options) {
  for (;;) {
    const token = sessionStorage.getItem("token");
    const headers = { ...options.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
    let answer;
    try {
      answer = await fetch(path, { ...options, headers });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error("The server does not respond. Is it still running?");
    }
    if (answer.ok) return answer;
    if (answer.status !== 401) throw new ApiError(answer, await fault(answer));
    await askForToken(token);
  }
}

async function fault(answer) {
  try {
    const { code, message } = (await answer.json()).error;
    return { code, message };
  } catch {
    return { code: "unknown", message: `The server responded with ${answer.status} ${answer.statusText}.` };
  }
}

function askForToken(refused) {
  if (refused && refused === sessionStorage.getItem("token")) {
    sessionStorage.removeItem("token");
    showError(new Error("The server rejected this token."));
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
        showMessage("");
        resolve();
      },
      { once: true },
    );
  });
  return waiting;
}
