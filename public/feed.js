// A connection's stream as it comes from the bridge.

import { Bridge } from "./bridge.js";

const LONGEST_PAUSE = 30_000;
/** Records from before it was opened that a stream begins with. */
export const HISTORY = 200;
/** A stream that takes turns ends when nothing came for so long, or after so many records. */
const TURN = { idle: "100ms", limit: 1000 };

/**
 * Follows a connection's stream for as long as it is not closed.
 *
 * It begins after the record `since`, or with the newest records if that is null. With `takesTurns` it does not hold
 * one of the few connections that a browser has for a bridge, but comes back every few seconds.
 *
 * Handlers: `record(record)` for the bridge's JSON records, gaps and snapshots among them, each once and in order;
 * `state(text)`: `live`, `reconnecting`, `refused`, or `unauthorized`, after which it rests.
 */
export class Feed {
  #bridge;
  #connection;
  #takesTurns;
  #handlers;
  #source = null;
  #last;
  #failures = 0;
  #timer = 0;

  constructor(bridge, connection, { since, takesTurns, ...handlers }) {
    this.#bridge = bridge;
    this.#connection = connection;
    this.#last = since;
    this.#takesTurns = takesTurns;
    this.#handlers = handlers;
    this.#open();
  }

  close() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  #open() {
    const source = this.#bridge.open(Bridge.path(this.#connection, "events"), {
      format: "json",
      types: "text,binary,status",
      direction: "both",
      ...(this.#last === null ? { last: HISTORY } : { since: this.#last }),
      ...(this.#takesTurns ? TURN : {}),
    });
    this.#source = source;
    let isRefused = false;
    let isTurnOver = false;
    source.onopen = () => {
      isRefused = false;
      isTurnOver = this.#takesTurns;
      this.#failures = 0;
      this.#handlers.state("live");
    };
    source.onmessage = (event) => this.#take(event);
    // Sent in place of a stream; the browser comes back by itself when the bridge told it to.
    source.addEventListener("refused", () => {
      isRefused = true;
      this.#handlers.state("refused");
    });
    source.onerror = () => {
      if (source !== this.#source) return;
      if (!isRefused && !isTurnOver) this.#handlers.state("reconnecting");
      isTurnOver = false;
      // Otherwise the browser comes back by itself, with the id of the last event.
      if (source.readyState === EventSource.CLOSED) this.#comeBack();
    };
  }

  #take(event) {
    if (event.lastEventId !== "") this.#last = event.lastEventId;
    this.#handlers.record(JSON.parse(event.data));
  }

  // The answer was not a stream, and only another request can tell why.
  async #comeBack() {
    const source = this.#source;
    try {
      await this.#bridge.ask("GET", Bridge.path(this.#connection, "status"));
    } catch (failure) {
      if (source !== this.#source) return;
      if (failure.status === 401) return this.#handlers.state("unauthorized");
    }
    if (source !== this.#source) return;
    const pause = Math.min(LONGEST_PAUSE, 1000 * 2 ** this.#failures);
    this.#failures += 1;
    this.#timer = setTimeout(() => this.#open(), pause * (0.75 + Math.random() / 2));
  }
}
