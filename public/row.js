// One record of the stream, as a row.

import { clock, counted, day, sentence, size } from "./format.js";

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
function reading({ type, data, missed }) {
  switch (type) {
    case "text":
      return { text: data.slice(0, LONGEST_TEXT), isCut: data.length > LONGEST_TEXT, bytes: encoder.encode(data).length };
    case "binary": {
      const bytes = byteCount(data);
      return { text: hexadecimal(data, LONGEST_TEXT / 4), isCut: bytes > LONGEST_TEXT / 4, bytes };
    }
    case "gap":
      return { text: missed === null ? "Messages are missing here" : `${counted(missed, "record")} missing here` };
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

/** A record of the bridge in the page. */
export class Row {
  element = blank.cloneNode(true);
  #type;
  #text;
  #isCut;
  #searched = null;
  #payload = this.element.lastChild;

  constructor(record) {
    const { text, isCut = false, bytes } = reading(record);
    this.#type = record.type;
    this.#text = text;
    this.#isCut = isCut;
    this.element.className = `row ${record.type}`;
    if (record.type === "status") this.element.dataset.type = record.data.type;
    const [time, direction, kind, origin] = this.element.children;
    kind.textContent = record.type;
    // Nobody knows when what is missing came, nor from where.
    if (record.type !== "gap") {
      showTime(time, record);
      direction.textContent = record.direction;
      origin.textContent = record.topic === null ? record.connection : `${record.connection} · ${record.topic}`;
    }
    this.#payload.textContent = this.#folded;
    if (bytes !== undefined) {
      const length = document.createElement("span");
      length.className = "size";
      length.textContent = size(bytes);
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
