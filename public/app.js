// Puts the page together.

import { Bridge } from "./bridge.js";
import { ConnectionList } from "./connections.js";
import { setText } from "./elements.js";
import { Follower } from "./follower.js";
import { number, seconds } from "./format.js";
import { RecordList } from "./records.js";
import { SendForm } from "./sending.js";

const POLL = 2000;
/** Milliseconds within which several reasons to ask for the states make one request. */
const GATHER = 100;
/** Subscribers of a connection beyond which they are not looked at one by one. */
const MOST_SUBSCRIBERS = 100;
const SHORTCUTS = "wsbridge.shortcuts";
/** On which the tabs of a browser tell each other that a session began or ended. */
const SESSION = "wsbridge.session";

const find = (selector) => document.querySelector(selector);
const bridge = new Bridge();
const records = new RecordList();
const connections = new ConnectionList(bridge, { chosen: follow, changed: () => refreshIn(0) });
const form = new SendForm(bridge, { target: () => connections.chosen, changed: () => refreshIn(0) });
const follower = new Follower({ takes: () => !records.isPaused, news: take });

// The stream

function follow(connection) {
  records.clear();
  history.replaceState(null, "", `#${encodeURIComponent(connection)}`);
  showFeed({ state: "connecting" });
  follower.follow(connection);
}

function take(news) {
  if (news.isFresh) records.clear();
  records.add(news.entries, news.behind);
  if (news.state !== find("#feed-state").dataset.state || news.entries.some(({ type }) => type === "status")) {
    refreshIn(GATHER);
  }
  showFeed(news);
  if (news.state === "unauthorized") askForToken();
}

let latest = null;

function showFeed(news) {
  latest = news;
  const { state, behind, waited } = news;
  const element = find("#feed-state");
  element.dataset.state = state;
  setText(element, state === "refused" ? "too many subscribers, trying again" : state);
  const isKnown = state === "live" && !records.isPaused;
  const lag = behind === 0 ? "up to date" : `${number(behind)} behind, ${seconds(waited)}`;
  setText(find("#lag"), isKnown ? lag : "");
}

// The states: asked for now and then, and soon after an event

let timer = 0;
let due = Infinity;

function refreshIn(milliseconds) {
  const at = performance.now() + milliseconds;
  if (at >= due) return;
  clearTimeout(timer);
  due = at;
  timer = setTimeout(refresh, milliseconds);
}

async function refresh() {
  due = Infinity;
  if (document.hidden) return;
  try {
    const answer = await bridge.ask("GET", "v1/connections");
    showTrouble("");
    if (find("#access").open) goOn();
    connections.update(answer.connections);
    await refreshSubscribers(answer.connections.find(({ name }) => name === connections.chosen));
  } catch (failure) {
    if (failure.status === 401) return askForToken();
    showTrouble(failure.status === 0 ? "The bridge does not answer. Trying again …" : failure.message);
  }
  refreshIn(POLL);
}

async function refreshSubscribers(status) {
  // A long list would be a burden for the sake of one number.
  if (!status || status.subscribers === 0 || status.subscribers > MOST_SUBSCRIBERS) return;
  const answer = await bridge.ask("GET", Bridge.path(status.name, "subscribers"));
  connections.updateSubscribers(status.name, answer.subscribers);
}

function showTrouble(text) {
  setText(find("#reach"), text);
  document.body.classList.toggle("unreached", text !== "");
}

document.addEventListener("visibilitychange", () => refreshIn(0));

// The session, which all tabs of a browser share

const neighbours = new BroadcastChannel(SESSION);
neighbours.onmessage = () => refreshIn(0);

/** Takes a token out of the address, where it must not be seen, copied or kept. */
function takeToken() {
  const { pathname, search, hash } = location;
  const given = /^#token=(.*)$/.exec(hash) ?? /[?&]access_token=([^&]*)/.exec(search);
  if (given === null) return null;
  const isInHash = hash.startsWith("#token=");
  const rest = search.replaceAll(/[?&]access_token=[^&]*/g, "").replace(/^&/, "?");
  history.replaceState(null, "", pathname + rest + (isInHash ? "" : hash));
  try {
    return decodeURIComponent(given[1]);
  } catch {
    return given[1];
  }
}

async function logIn(token) {
  const result = find("#access-result");
  try {
    await bridge.logIn(token);
  } catch (failure) {
    askForToken();
    result.textContent = failure.status === 401 ? "The bridge does not know this token." : failure.message;
    return;
  }
  goOn();
  neighbours.postMessage(null);
  refreshIn(0);
}

function askForToken() {
  const dialog = find("#access");
  find("#log-out").hidden = true;
  if (dialog.open) return;
  follower.stop();
  find("#access-result").textContent = "";
  dialog.showModal();
}

function goOn() {
  find("#access").close();
  showSession();
  if (connections.chosen !== null) follow(connections.chosen);
}

/** A session can be ended; a bridge without tokens has none. */
async function showSession() {
  const session = await bridge.ask("GET", "v1/session").catch(() => ({ expiresAt: null }));
  find("#log-out").hidden = session.expiresAt === null;
}

find("#access-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const token = find("#token").value.trim();
  find("#token").value = "";
  logIn(token);
});
find("#log-out").addEventListener("click", async () => {
  try {
    await bridge.logOut();
  } catch (failure) {
    showTrouble(failure.message);
  }
  neighbours.postMessage(null);
  refreshIn(0);
});
// Without a session there is nothing to go back to.
find("#access").addEventListener("cancel", (event) => event.preventDefault());

// What the stream shows

function filter() {
  const kinds = Array.from(document.querySelectorAll("[name=shown]:checked"), (box) => box.value);
  records.filter(new Set(kinds), find("#filter").value);
}

function pause() {
  records.isPaused = !records.isPaused;
  find("#pause").ariaPressed = String(records.isPaused);
  find("#pause").textContent = records.isPaused ? "Go on" : "Pause";
  follower.again();
  if (latest !== null) showFeed(latest);
}

find("#filter").addEventListener("input", filter);
for (const box of document.querySelectorAll("[name=shown]")) box.addEventListener("change", filter);
find("#pause").addEventListener("click", pause);
find("#clear").addEventListener("click", () => records.clear());

// The keyboard

const shortcuts = {
  m: () => form.focus(),
  "/": () => find("#filter").focus(),
  p: pause,
  l: () => records.focus(),
  "?": () => find("#help").showModal(),
};

const switchOfShortcuts = find("#shortcuts");
switchOfShortcuts.checked = localStorage.getItem(SHORTCUTS) !== "off";
switchOfShortcuts.addEventListener("change", () => {
  localStorage.setItem(SHORTCUTS, switchOfShortcuts.checked ? "on" : "off");
});
find("#open-help").addEventListener("click", shortcuts["?"]);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || find("dialog[open]")) return;
  const isField = event.target.matches("textarea, input:not([type=radio], [type=checkbox], [type=file])");
  if (isField) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (!switchOfShortcuts.checked || !Object.hasOwn(shortcuts, event.key)) return;
  event.preventDefault();
  shortcuts[event.key]();
});

filter();
const token = takeToken();
if (token === null) {
  showSession();
  refreshIn(0);
} else {
  logIn(token);
}
// A link to this page that is followed within it changes only what is behind the `#`.
addEventListener("hashchange", () => {
  const token = takeToken();
  if (token !== null) logIn(token);
});
