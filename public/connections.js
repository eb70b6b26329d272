// The connections and how they are.

import { Bridge } from "./bridge.js";
import { make, setText } from "./elements.js";
import { closeWords, counted, failureWords, number, span } from "./format.js";

const AT_REST = new Set(["idle", "closed", "failed", "paused"]);

/** The facts of a status that are shown, as pairs of name and text; null hides one. */
function facts(status, lag, now) {
  const since = (time) => span(now - Date.parse(time));
  const { heartbeat, outbox, counters, lastClose, lastError } = status;
  return {
    Since: `${since(status.since)} ago`,
    "Next attempt": status.nextAttemptAt === null
      ? null
      : `${status.attempt}, in ${span(Date.parse(status.nextAttemptAt) - now)}`,
    "Round trip": heartbeat.rttMs === null ? "–" : `${heartbeat.rttMs} ms`,
    "Missed heartbeats": heartbeat.misses === 0 ? null : `${heartbeat.misses} of ${heartbeat.missLimit}`,
    Outbox: outbox.messages === 0 ? "empty" : `${counted(outbox.messages, "message")} waiting`,
    Traffic: `${number(counters.received)} in, ${number(counters.sent)} out`,
    Subscribers: number(status.subscribers) + (lag > 0 ? `, the slowest ${number(lag)} behind` : ""),
    "Last close": lastClose === null ? null : `${closeWords(lastClose)}, ${since(lastClose.at)} ago`,
    "Last error": lastError === null ? null : `${failureWords(lastError)}, ${since(lastError.at)} ago`,
  };
}

/** One word for how a connection is. */
function word(status) {
  if (status.state === "open") return status.ready ? "ready" : "opening";
  return status.state;
}

/** What is shown of one connection. */
class Card {
  element = make("li", "card");
  #radio = make("input");
  #name = make("span", "name");
  #state = make("span", "state");
  #url = make("p", "url");
  #facts = make("dl", "facts");
  #connect = make("button", null, "Connect");
  #disconnect = make("button", null, "Disconnect");
  #rows = new Map();
  #status;
  #lag = 0;

  /** `act(verb)` is called for a button, `choose()` when the connection is picked. */
  constructor(status, { choose, act }) {
    this.#radio.type = "radio";
    this.#radio.name = "connection";
    this.#radio.addEventListener("change", choose);
    for (const [button, verb] of [[this.#connect, "connect"], [this.#disconnect, "disconnect"]]) {
      button.type = "button";
      button.addEventListener("click", () => act(verb));
    }
    this.element.append(
      make("label", "title", this.#radio, this.#name, this.#state),
      this.#url,
      this.#facts,
      make("div", "bar", this.#connect, this.#disconnect),
    );
    this.update(status);
  }

  update(status) {
    this.#status = status;
    setText(this.#name, status.name);
    setText(this.#url, status.url);
    const state = word(status);
    setText(this.#state, state);
    this.element.dataset.state = state;
    setText(this.#connect, status.state === "waiting" ? "Connect now" : "Connect");
    this.#offer(this.#connect, AT_REST.has(status.state) || status.state === "waiting" || status.state === "offline");
    this.#offer(this.#disconnect, !AT_REST.has(status.state) && status.state !== "closing");
    this.tick();
  }

  /** Shows what changes by the mere passing of time. */
  tick() {
    for (const [name, text] of Object.entries(facts(this.#status, this.#lag, Date.now()))) {
      let row = this.#rows.get(name);
      if (!row) {
        row = make("div", null, make("dt", null, name), make("dd"));
        this.#rows.set(name, row);
        this.#facts.append(row);
      }
      row.hidden = text === null;
      if (text !== null) setText(row.lastChild, text);
    }
  }

  /** How many records the slowest subscriber has not been sent. */
  set lag(records) {
    this.#lag = records;
    this.tick();
  }

  set chosen(isChosen) {
    this.#radio.checked = isChosen;
    this.element.classList.toggle("chosen", isChosen);
  }

  // A button that goes away under the focus hands it to the one that takes its place.
  #offer(button, isOffered) {
    if (!isOffered && document.activeElement === button) {
      button.hidden = true;
      (button === this.#connect ? this.#disconnect : this.#connect).hidden = false;
      (button === this.#connect ? this.#disconnect : this.#connect).focus();
    }
    button.hidden = !isOffered;
  }
}

/** The list of connections, of which one is chosen. */
export class ConnectionList {
  #bridge;
  #list = document.querySelector("#connections");
  #title = document.querySelector("#connections-title");
  #result = document.querySelector("#action-result");
  #announcer = document.querySelector("#announcer");
  #cards = new Map();
  #chosen = null;
  #announced = null;
  #handlers;

  /** Handlers: `chosen(name)` when another connection is to be followed; `changed()` after a button's work. */
  constructor(bridge, handlers) {
    this.#bridge = bridge;
    this.#handlers = handlers;
    setInterval(() => { for (const card of this.#cards.values()) card.tick(); }, 1000);
  }

  get chosen() {
    return this.#chosen;
  }

  /** Takes the statuses of all connections. */
  update(statuses) {
    for (const status of statuses) {
      const card = this.#cards.get(status.name);
      if (card) card.update(status);
      else this.#add(status);
    }
    const names = new Set(statuses.map((status) => status.name));
    for (const [name, card] of this.#cards) {
      if (names.has(name)) continue;
      card.element.remove();
      this.#cards.delete(name);
    }
    this.#title.textContent = statuses.length === 1 ? "Connection" : "Connections";
    this.#list.classList.toggle("several", statuses.length > 1);
    this.#settleChoice(names);
    this.#announce(statuses.find((status) => status.name === this.#chosen));
  }

  /** Takes the subscribers of a connection. */
  updateSubscribers(name, subscribers) {
    const card = this.#cards.get(name);
    if (card) card.lag = Math.max(0, ...subscribers.map(({ lag }) => lag));
  }

  choose(name) {
    if (name === this.#chosen) return;
    this.#chosen = name;
    this.#announced = null;
    for (const [other, card] of this.#cards) card.chosen = other === name;
    this.#handlers.chosen(name);
  }

  #add(status) {
    const { name } = status;
    const card = new Card(status, {
      choose: () => this.choose(name),
      act: (verb) => this.#act(name, verb),
    });
    this.#cards.set(name, card);
    this.#list.append(card.element);
  }

  // The one of the address, else the default one, else the first.
  #settleChoice(names) {
    if (names.has(this.#chosen)) return;
    const wanted = decodeURIComponent(location.hash.slice(1));
    const choice = [wanted, "default", ...names].find((name) => names.has(name));
    if (choice === undefined) this.#chosen = null;
    else this.choose(choice);
  }

  #announce(status) {
    const text = status ? `${status.name} is ${word(status)}` : null;
    if (text === this.#announced) return;
    this.#announced = text;
    this.#announcer.textContent = text ?? "";
  }

  async #act(name, verb) {
    this.#result.textContent = "";
    try {
      await this.#bridge.ask("POST", Bridge.path(name, verb));
    } catch (failure) {
      this.#result.classList.add("bad");
      this.#result.textContent = failure.message;
    }
    this.#handlers.changed();
  }
}
