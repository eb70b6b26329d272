// Streams that tabs share: one for each connection, whatever the number of tabs.
//
// A tab pulls, and gets one answer: what came since the place up to which it has shown everything, as soon as there is
// something. The hub holds no queue for it, only that question; a tab that is slow, hidden, frozen or gone costs nothing,
// and what the ring has lost by the time it comes back it is told as a number.

import { Bridge } from "./bridge.js";
import { entryOf, passed } from "./entry.js";
import { Feed, HISTORY } from "./feed.js";
import { Ring } from "./ring.js";

/** A browser opens six connections to a host; pages, states and messages need some. Streams beyond these take turns. */
const MOST_STREAMS = 4;
/** Milliseconds after which a pull is answered though nothing came; who lives pulls again. */
export const LONGEST_SILENCE = 10_000;
/** Milliseconds without a pull after which a tab counts as gone. Browsers run a hidden tab once a minute. */
const LET_GO = 150_000;
const SWEEP = 5000;

/** A connection's stream, and the newest of what it brought. */
class Subject {
  ring = new Ring();
  state = "connecting";
  /** Who pulls from it. */
  tabs = new Set();
  /** The record after which it began; null: it began with the newest. */
  origin;
  #feed;

  /** `changed()` is called when tabs may have to be told something. */
  constructor({ connection, after }, takesTurns, changed) {
    this.connection = connection;
    this.origin = after;
    this.takesTurns = takesTurns;
    this.#feed = new Feed(new Bridge(), connection, {
      since: after,
      takesTurns,
      record: (record) => {
        // Tabs show what happens, not how things stood when the stream began.
        if (record.type === "status" && record.data.type === "snapshot") return;
        this.ring.add(entryOf(record));
        changed();
      },
      state: (state) => {
        this.state = state;
        changed();
      },
    });
  }

  close() {
    this.#feed.close();
  }

  /** Where a tab goes on, and whether that is a new beginning for it. */
  place({ ring, next, after }) {
    if (ring === this.ring.name) return { from: next, isFresh: false };
    if (after !== null && after === this.origin) return { from: 0, isFresh: false };
    return { from: Math.max(this.ring.first, this.ring.end - HISTORY), isFresh: true };
  }

  /** The answer to a pull, or null while there is nothing that the tab does not know. */
  answer(pull) {
    const { ring, state } = this;
    const { from, isFresh } = this.place(pull);
    const start = Math.max(from, ring.first);
    const entries = pull.most > 0 ? ring.entries(start, pull.most) : [];
    const isLate = entries.length > 0 && start > from;
    const next = entries.length > 0 ? start + entries.length : from;
    const behind = ring.end - next;
    if (!isFresh && entries.length === 0 && state === pull.state && behind === pull.behind) return null;
    if (isLate) entries.unshift(passed(start - from, entries[0].id));
    return { turn: pull.turn, ring: ring.name, next, entries, isFresh, state, behind, waited: ring.age(next) };
  }
}

/** A tab, at the other end of a port. */
class Tab {
  /** Its question, until it is answered. */
  pull = null;
  heard = performance.now();
  subject = null;

  constructor(port) {
    this.port = port;
  }

  /** Answers if there is something to tell; `isDue`: in any case. */
  answer(isDue = false) {
    if (this.pull === null) return;
    const { turn } = this.pull;
    const answer = this.subject.answer(this.pull) ?? (isDue ? { turn, entries: null } : null);
    if (answer === null) return;
    this.pull = null;
    this.heard = performance.now();
    this.port.postMessage(answer);
  }
}

export class Hub {
  /** By connection. */
  #subjects = new Map();
  #tabs = new Set();
  #isStirred = false;

  constructor() {
    setInterval(() => this.#sweep(), SWEEP);
  }

  /** Serves the tab at the other end of a port. */
  attach(port) {
    const tab = new Tab(port);
    port.onmessage = ({ data: pull }) => {
      tab.heard = performance.now();
      if (pull === null) this.#leave(tab);
      else this.#take(tab, pull);
    };
    // Where the browser tells of it; otherwise the silence will.
    port.onclose = () => this.#leave(tab);
  }

  #take(tab, pull) {
    this.#tabs.add(tab);
    const subject = this.#subjectOf(pull);
    if (tab.subject !== subject) {
      this.#quit(tab);
      tab.subject = subject;
      subject.tabs.add(tab);
    }
    tab.pull = pull;
    tab.answer();
  }

  #subjectOf(pull) {
    const known = this.#subjects.get(pull.connection);
    // One that continued another may have less than what a new tab begins with. Its tabs then begin anew, too.
    const isNewTab = pull.ring === null && pull.after === null;
    const isTooShort = known && known.origin !== null && known.ring.end < HISTORY;
    // It rests for want of a session, and who comes anew may have one.
    const isShutOut = known?.state === "unauthorized";
    if (known && !(isNewTab && (isTooShort || isShutOut))) return known;
    const others = [...this.#subjects.values()].filter((other) => other !== known && !other.takesTurns);
    const subject = new Subject(pull, others.length >= MOST_STREAMS, () => this.#stir());
    this.#subjects.set(pull.connection, subject);
    for (const tab of known?.tabs ?? []) {
      tab.subject = subject;
      subject.tabs.add(tab);
    }
    known?.close();
    return subject;
  }

  #leave(tab) {
    tab.pull = null;
    this.#tabs.delete(tab);
    this.#quit(tab);
  }

  #quit(tab) {
    const { subject } = tab;
    tab.subject = null;
    subject?.tabs.delete(tab);
    if (subject?.tabs.size !== 0) return;
    subject.close();
    this.#subjects.delete(subject.connection);
  }

  // Answers in a task of its own, so that what came together leaves together.
  #stir() {
    if (this.#isStirred) return;
    this.#isStirred = true;
    setTimeout(() => {
      this.#isStirred = false;
      for (const tab of this.#tabs) tab.answer();
    });
  }

  #sweep() {
    const now = performance.now();
    for (const tab of [...this.#tabs]) {
      if (now - tab.heard > LET_GO) this.#leave(tab);
      else if (now - tab.heard > LONGEST_SILENCE - SWEEP) tab.answer(true);
    }
  }
}
