// Puts the page together.

import { Bridge, Feed } from "./bridge.js";
import { ConnectionList } from "./connections.js";
import { RecordList } from "./records.js";
import { SendForm } from "./sending.js";

const POLL = 2000;
/** Milliseconds within which several reasons to ask for the states make one request. */
const GATHER = 100;
const SHORTCUTS = "wsbridge.shortcuts";

const find = (selector) => document.querySelector(selector);
const bridge = new Bridge();
const records = new RecordList();
const connections = new ConnectionList(bridge, { chosen: follow, changed: () => refreshIn(0) });
const form = new SendForm(bridge, { target: () => connections.chosen, changed: () => refreshIn(0) });
let feed = null;

// The stream

function follow(connection) {
  feed?.close();
  records.clear();
  history.replaceState(null, "", `#${encodeURIComponent(connection)}`);
  showFeedState("connecting");
  feed = new Feed(bridge, connection, {
    record: take,
    state: (state) => {
      showFeedState(state);
      if (state === "reconnecting") refreshIn(GATHER);
    },
    unauthorized: askForToken,
  });
}

function take(record) {
  if (record.type === "status") refreshIn(GATHER);
  // The list shows what happens, not how things stood when the stream began.
  if (record.type === "status" && record.data.type === "snapshot") return;
  records.add(record);
}

function showFeedState(state) {
  const element = find("#feed-state");
  element.dataset.state = state;
  element.textContent = state === "refused" ? "too many subscribers, trying again" : state;
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
    connections.update(answer.connections);
  } catch (failure) {
    if (failure.status === 401) return askForToken();
    showTrouble(failure.status === 0 ? "The bridge does not answer. Trying again …" : failure.message);
  }
  refreshIn(POLL);
}

function showTrouble(text) {
  if (find("#reach").textContent !== text) find("#reach").textContent = text;
  document.body.classList.toggle("unreached", text !== "");
  find("#forget").hidden = bridge.token === null;
}

document.addEventListener("visibilitychange", () => refreshIn(0));

// The token

function askForToken() {
  const dialog = find("#access");
  if (dialog.open) return;
  feed?.close();
  find("#access-result").textContent = bridge.token === null ? "" : "The bridge does not know this token.";
  bridge.token = null;
  dialog.showModal();
}

find("#access-form").addEventListener("submit", (event) => {
  event.preventDefault();
  bridge.token = find("#token").value.trim();
  find("#token").value = "";
  find("#access").close();
  if (connections.chosen !== null) follow(connections.chosen);
  refreshIn(0);
});
find("#forget").addEventListener("click", () => {
  feed?.close();
  bridge.token = null;
  refreshIn(0);
});
// Without a token there is nothing to go back to.
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
refreshIn(0);
