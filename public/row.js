// One record of the stream, as a row.

import { clock, counted, sentence, size } from "./format.js";

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
export class Row {
  element = document.createElement("div");
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
    if (record.kind === "status") this.element.dataset.type = record.data.type;
    this.element.role = "listitem";
    this.element.tabIndex = -1;
    const time = document.createElement("time");
    // Nobody knows when what is missing came.
    if (record.kind !== "gap") {
      time.textContent = clock(record.time);
      time.dateTime = record.time.toISOString();
    }
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
