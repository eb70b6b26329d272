// The stream as rows, newest first.

import { clock, counted, number, sentence, size } from "./format.js";

/** Rows in the page at a time; the oldest go first. */
const MOST_ROWS = 2000;
/** Rows made in one frame, so that a flood leaves time for what the user does. */
const ROWS_PER_FRAME = 100;
/** Characters of a message that are kept. */
const LONGEST_TEXT = 16_384;
const LONGEST_LINE = 400;

const encoder = new TextEncoder();

/** The bytes that a base64 text of the bridge stands for. */
function byteCount(base64) {
  return (base64.length / 4) * 3 - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);
}

function hexadecimal(base64, most) {
  const bytes = atob(base64.slice(0, Math.ceil(most / 3) * 4));
  return Array.from(bytes.slice(0, most), (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join(" ");
}

/** What a row shows: its text, and its size if it is a message. */
function reading({ kind, data }) {
  switch (kind) {
    case "text":
      return { text: data.slice(0, LONGEST_TEXT), isCut: data.length > LONGEST_TEXT, bytes: encoder.encode(data).length };
    case "binary": {
      const bytes = byteCount(data);
      return { text: hexadecimal(data, LONGEST_TEXT / 4), isCut: bytes > LONGEST_TEXT / 4, bytes };
    }
    case "gap":
      return { text: data.missed === null ? "Messages are missing here" : `${counted(data.missed, "record")} missing here` };
    default:
      return { text: sentence(data) };
  }
}

/** Indented, if it is JSON. */
function unfolded(text) {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** A record in the page. */
class Row {
  element = document.createElement("li");
  #kind;
  #text;
  #isCut;
  #searched = null;
  #payload = document.createElement("span");

  constructor(record) {
    const { text, isCut = false, bytes } = reading(record);
    this.#kind = record.kind;
    this.#text = text;
    this.#isCut = isCut;
    this.element.className = `row ${record.kind}`;
    this.element.tabIndex = -1;
    const time = document.createElement("time");
    time.textContent = clock(record.time);
    time.dateTime = record.time.toISOString();
    const kind = document.createElement("span");
    kind.className = "kind";
    kind.textContent = record.kind;
    this.#payload.className = "payload";
    this.#payload.textContent = this.#folded;
    this.element.append(time, kind, this.#payload);
    if (bytes !== undefined) {
      const length = document.createElement("span");
      length.className = "size";
      length.textContent = size(bytes);
      this.element.append(length);
    }
  }

  /** Shows it if it is of a wanted kind and has the text, which is in lower case; gaps always show. */
  filter(kinds, text) {
    const isWanted = this.#kind === "gap" || (kinds.has(this.#kind) && (text === "" || this.#has(text)));
    this.element.hidden = !isWanted;
    return isWanted;
  }

  get isShown() {
    return !this.element.hidden;
  }

  toggle() {
    const isOpen = this.element.classList.toggle("open");
    const rest = this.#isCut ? "\n… cut here" : "";
    this.#payload.textContent = isOpen ? unfolded(this.#text) + rest : this.#folded;
  }

  get #folded() {
    return this.#text.length > LONGEST_LINE ? `${this.#text.slice(0, LONGEST_LINE)}…` : this.#text;
  }

  #has(text) {
    this.#searched ??= this.#text.toLowerCase();
    return this.#searched.includes(text);
  }
}

/** The list of rows, which takes records at any rate and shows the newest of them. */
export class RecordList {
  #list = document.querySelector("#records");
  #count = document.querySelector("#count");
  #empty = document.querySelector("#empty");
  #held = document.querySelector("#held");
  /** Oldest first. */
  #rows = [];
  #byElement = new WeakMap();
  #waiting = [];
  #heldCount = 0;
  #frame = 0;
  #isPaused = false;
  #kinds = new Set(["text", "binary", "status"]);
  #text = "";
  #shown = 0;

  constructor() {
    this.#list.addEventListener("click", (event) => this.#clicked(event));
    this.#list.addEventListener("keydown", (event) => this.#pressed(event));
  }

  add(record) {
    this.#waiting.push(record);
    if (this.#isPaused) this.#heldCount += 1;
    // Only the newest would stay in the list anyhow; also bounds what waits while the tab is hidden.
    if (this.#waiting.length > 2 * MOST_ROWS) this.#waiting.splice(0, this.#waiting.length - MOST_ROWS);
    this.#schedule();
  }

  clear() {
    this.#rows = [];
    this.#waiting = [];
    this.#heldCount = 0;
    this.#list.replaceChildren();
    this.#refilter();
  }

  get isPaused() {
    return this.#isPaused;
  }

  set isPaused(isPaused) {
    this.#isPaused = isPaused;
    this.#heldCount = 0;
    this.#schedule();
  }

  /** Shows only records of these kinds that have the text. */
  filter(kinds, text) {
    this.#kinds = kinds;
    this.#text = text.toLowerCase();
    this.#refilter();
  }

  focus() {
    (this.#newestShown?.element ?? this.#list).focus();
  }

  #schedule() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      if (!this.#isPaused) this.#takeWaiting();
      this.#summarize();
    });
  }

  #takeWaiting() {
    if (this.#waiting.length > MOST_ROWS) this.#waiting.splice(0, this.#waiting.length - MOST_ROWS);
    const fragment = document.createDocumentFragment();
    for (const record of this.#waiting.splice(0, ROWS_PER_FRAME)) {
      const row = new Row(record);
      if (row.filter(this.#kinds, this.#text)) this.#shown += 1;
      this.#rows.push(row);
      this.#byElement.set(row.element, row);
      fragment.prepend(row.element);
    }
    for (const row of this.#rows.splice(0, Math.max(0, this.#rows.length - MOST_ROWS))) {
      if (row.isShown) this.#shown -= 1;
      row.element.remove();
    }
    this.#list.prepend(fragment);
    if (this.#waiting.length > 0) this.#schedule();
  }

  #refilter() {
    this.#shown = 0;
    for (const row of this.#rows) if (row.filter(this.#kinds, this.#text)) this.#shown += 1;
    this.#summarize();
  }

  #summarize() {
    const all = this.#rows.length;
    this.#count.textContent =
      all === 0 ? "" : this.#shown === all ? counted(all, "row") : `${number(this.#shown)} of ${counted(all, "row")}`;
    this.#empty.hidden = this.#shown > 0;
    this.#empty.textContent =
      all === 0 ? "Nothing yet. What the upstream sends appears here, newest first." : "No row passes the filter.";
    this.#held.hidden = !this.#isPaused;
    if (this.#isPaused) this.#held.textContent = `Paused. ${number(this.#heldCount)} new since.`;
  }

  get #newestShown() {
    return this.#rows.findLast((row) => row.isShown);
  }

  #clicked(event) {
    // Whoever selects text does not mean to fold it.
    if (getSelection()?.toString() !== "") return;
    this.#byElement.get(event.target.closest(".row"))?.toggle();
  }

  #pressed(event) {
    const row = this.#byElement.get(document.activeElement);
    if (event.key === "Enter" && row) {
      row.toggle();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const next = row ? this.#beside(row.element, event.key === "ArrowDown") : this.#newestShown?.element;
      next?.focus();
    } else {
      return;
    }
    event.preventDefault();
  }

  #beside(element, isDown) {
    do {
      element = isDown ? element.nextElementSibling : element.previousElementSibling;
    } while (element?.hidden);
    return element;
  }
}
