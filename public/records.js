// The stream as rows, newest first.

import { setText } from "./elements.js";
import { counted, number } from "./format.js";
import { Row } from "./row.js";

/** Rows in the page at a time; the oldest go first. */
const MOST_ROWS = 2000;
/** Rows that the browser lays out together, or not at all while they are out of sight. */
const ROWS_PER_CHUNK = 50;

const NOTHING = "Nothing yet. What the upstream sends appears here, newest first.";

/** Rows that follow one another. */
class Chunk {
  element = document.createElement("div");
  /** Oldest first, unlike in the page. */
  rows = [];
  #shown = 0;

  constructor() {
    this.element.className = "chunk";
    this.element.role = "presentation";
  }

  get shown() {
    return this.#shown;
  }

  get isFull() {
    return this.rows.length >= ROWS_PER_CHUNK;
  }

  add(row) {
    this.rows.push(row);
    this.element.prepend(row.element);
    this.#count();
  }

  dropOldest() {
    this.rows.shift().element.remove();
    this.#count();
  }

  filter(kinds, text) {
    for (const row of this.rows) row.filter(kinds, text);
    this.#count();
  }

  // What is out of sight has the height that its rows will need.
  #count() {
    const shown = this.rows.filter((row) => row.isShown).length;
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.element.hidden = this.#shown === 0;
    this.element.style.setProperty("--rows", this.#shown);
  }
}

/** The list of rows, which shows the newest of the entries that it is given. */
export class RecordList {
  #list = document.querySelector("#records");
  #count = document.querySelector("#count");
  #empty = document.querySelector("#empty");
  #held = document.querySelector("#held");
  /** Oldest first, unlike in the page. */
  #chunks = [];
  #rowCount = 0;
  #byElement = new WeakMap();
  #isPaused = false;
  /** Entries that came and are not in the list yet. */
  #left = 0;
  #kinds = new Set();
  #text = "";

  constructor() {
    this.#list.addEventListener("click", (event) => this.#clicked(event));
    this.#list.addEventListener("keydown", (event) => this.#pressed(event));
  }

  /** Shows entries above all others; so many are left for later. To be called within a frame. */
  add(entries, left) {
    for (const entry of entries) this.#show(new Row(entry));
    while (this.#rowCount > MOST_ROWS) this.#dropOldest();
    this.#left = left;
    this.#summarize();
  }

  clear() {
    this.#chunks = [];
    this.#rowCount = 0;
    this.#list.replaceChildren();
    this.#summarize();
  }

  get isPaused() {
    return this.#isPaused;
  }

  set isPaused(isPaused) {
    this.#isPaused = isPaused;
    this.#summarize();
  }

  /** Shows only records of these kinds that have the text. */
  filter(kinds, text) {
    this.#kinds = kinds;
    this.#text = text.toLowerCase();
    for (const chunk of this.#chunks) chunk.filter(this.#kinds, this.#text);
    this.#summarize();
  }

  /** Goes to the newest row. */
  focus() {
    (this.#shownRows.at(-1)?.element ?? this.#list).focus();
  }

  #show(row) {
    row.filter(this.#kinds, this.#text);
    this.#byElement.set(row.element, row);
    let chunk = this.#chunks.at(-1);
    if (!chunk || chunk.isFull) {
      chunk = new Chunk();
      this.#chunks.push(chunk);
      this.#list.prepend(chunk.element);
    }
    chunk.add(row);
    this.#rowCount += 1;
  }

  #dropOldest() {
    const [oldest] = this.#chunks;
    oldest.dropOldest();
    this.#rowCount -= 1;
    if (oldest.rows.length === 0) this.#chunks.shift().element.remove();
  }

  #summarize() {
    const all = this.#rowCount;
    const shown = this.#chunks.reduce((sum, chunk) => sum + chunk.shown, 0);
    const count = shown === all ? counted(all, "row") : `${number(shown)} of ${counted(all, "row")}`;
    setText(this.#count, all === 0 ? "" : count);
    this.#empty.hidden = shown > 0;
    setText(this.#empty, all === 0 ? NOTHING : "No row passes the filter.");
    this.#held.hidden = !this.#isPaused;
    setText(this.#held, this.#isPaused ? `Paused. ${number(this.#left)} new since.` : "");
  }

  /** Oldest first. */
  get #shownRows() {
    return this.#chunks.flatMap((chunk) => chunk.rows).filter((row) => row.isShown);
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
      const rows = this.#shownRows;
      const step = event.key === "ArrowDown" ? -1 : 1;
      rows[row ? rows.indexOf(row) + step : rows.length - 1]?.element.focus();
    } else {
      return;
    }
    event.preventDefault();
  }
}
