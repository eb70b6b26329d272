// One entry of the stream, as a row.

import { clock, day, size } from "./format.js";

const LONGEST_LINE = 400;

/** Indented, if it is JSON. */
function unfolded(text) {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** What each row is a copy of, which is quicker than to make it anew. */
const blank = document.createElement("div");
blank.role = "listitem";
blank.tabIndex = -1;
blank.innerHTML =
  '<time class="time"></time><span class="direction"></span><span class="kind"></span>' +
  '<span class="origin"></span><span class="payload"></span>';

/** When a record came, with the day unless it was today. */
function showTime(element, { id, time }) {
  const date = new Date(time);
  const isToday = day(date) === day(new Date());
  element.textContent = isToday ? clock(date) : `${day(date)}\n${clock(date)}`;
  element.dateTime = time;
  element.title = `${time}, ${id}`;
}

/** An entry in the page. */
export class Row {
  element = blank.cloneNode(true);
  #type;
  #text;
  #isCut;
  #searched = null;
  #payload = this.element.lastChild;

  constructor(entry) {
    this.#type = entry.type;
    this.#text = entry.text;
    this.#isCut = entry.isCut;
    this.element.className = `row ${entry.type}`;
    if (entry.event !== null) this.element.dataset.type = entry.event;
    const [time, direction, kind, origin] = this.element.children;
    kind.textContent = entry.type;
    // Nobody knows when what is missing came, nor from where.
    if (entry.type !== "gap") {
      showTime(time, entry);
      direction.textContent = entry.direction;
      origin.textContent = entry.topic === null ? entry.connection : `${entry.connection} · ${entry.topic}`;
    }
    this.#payload.textContent = this.#folded;
    if (entry.bytes !== null) {
      const length = document.createElement("span");
      length.className = "size";
      length.textContent = size(entry.bytes);
      this.element.append(length);
    }
  }

  /** Shows it if it is of a wanted kind and has the text, which is in lower case; gaps always show. */
  filter(kinds, text) {
    const isWanted = this.#type === "gap" || (kinds.has(this.#type) && (text === "" || this.#has(text)));
    if (isWanted !== this.isShown) this.element.hidden = !isWanted;
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
