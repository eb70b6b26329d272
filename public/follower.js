// This tab's part of the streams that all tabs share.

import { Hub, LONGEST_SILENCE } from "./hub.js";
import { Pace, pause } from "./pace.js";

/** Tabs of another version of this page must not meet this one's worker: a change of what they say changes it. */
const WORKER = "wsbridge streams 2";
/** Milliseconds after which another worker is started in the place of one that ended. */
const RESTART = 1000;

/**
 * Follows a connection through the worker, or, where a browser has none, through a hub of this tab's own. That one rests
 * while the tab is hidden, so that hidden tabs do not use up the browser's connections.
 *
 * It asks for more when the last is shown, so what a tab cannot show in time never piles up in it.
 *
 * Handlers: `takes()` tells whether entries are wanted; `news(news)` is called within a frame, and has what the hub
 * answers: `entries`; `isFresh` if they do not follow what was shown; the `state` of the stream; how many are left `behind`,
 * and for how long the first of these has `waited`, in milliseconds.
 */
export class Follower {
  #handlers;
  #pace = new Pace();
  #port = null;
  #isAlone = false;
  #subject = null;
  #place = null;
  #turn = 0;
  #timer = 0;

  constructor(handlers) {
    this.#handlers = handlers;
    this.#connect();
    addEventListener("pagehide", () => this.#leave());
    addEventListener("pageshow", ({ persisted }) => { if (persisted) this.#pull(); });
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.#pull();
      else if (this.#isAlone) this.#leave();
    });
  }

  /** Begins with the newest entries of a connection. */
  follow(connection) {
    this.#subject = { connection };
    this.#place = { ring: null, next: 0, after: null, state: "connecting", behind: 0 };
    this.#pull();
  }

  stop() {
    this.#subject = null;
    this.#leave();
  }

  /** Asks again, when `takes()` has changed. */
  again() {
    this.#pull();
  }

  #connect() {
    if (this.#isAlone || !("SharedWorker" in globalThis)) return this.#beAlone();
    const url = new URL("stream-worker.js", import.meta.url);
    const worker = new SharedWorker(url, { type: "module", name: WORKER });
    // It could not be loaded.
    worker.onerror = () => this.#beAlone();
    this.#use(worker.port);
  }

  #beAlone() {
    if (this.#isAlone) return;
    this.#isAlone = true;
    const { port1, port2 } = new MessageChannel();
    new Hub().attach(port1);
    this.#use(port2);
    this.#pull();
  }

  #use(port) {
    this.#port?.close();
    this.#port = port;
    port.onmessage = ({ data: answer }) => this.#take(answer);
    // The worker ended, where the browser tells of it.
    port.onclose = async () => {
      await pause(RESTART);
      if (port === this.#port) this.#comeBack();
    };
  }

  #pull() {
    if (this.#subject === null || (this.#isAlone && document.hidden)) return;
    this.#turn += 1;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#comeBack(), 3 * LONGEST_SILENCE);
    const most = this.#handlers.takes() ? this.#pace.count : 0;
    this.#port.postMessage({ turn: this.#turn, ...this.#subject, ...this.#place, most });
  }

  // Nothing is lost: what was not shown is asked for again.
  #comeBack() {
    this.#connect();
    this.#pull();
  }

  #leave() {
    this.#turn += 1;
    clearTimeout(this.#timer);
    this.#port.postMessage(null);
  }

  async #take(answer) {
    // An earlier question's, which was asked anew since.
    const isCurrent = () => answer.turn === this.#turn;
    if (!isCurrent()) return;
    clearTimeout(this.#timer);
    if (answer.entries !== null) {
      await this.#pace.frame();
      if (!isCurrent()) return;
      const { ring, next, state, behind, entries } = answer;
      this.#place = { ring, next, state, behind, after: entries.at(-1)?.id ?? (answer.isFresh ? null : this.#place.after) };
      this.#handlers.news(answer);
      await this.#pace.rest(entries.length);
      if (!isCurrent()) return;
    }
    this.#pull();
  }
}
