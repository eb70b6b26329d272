// The newest entries of a stream.

const MOST_ENTRIES = 2000;
const MOST_CHARACTERS = 16 << 20;

let made = 0;

/** Keeps the newest entries, numbered from 0 in the order in which they came, within bounds. */
export class Ring {
  /** No other ring has this name, not even one of a worker that ended. */
  name = `${performance.timeOrigin}/${made++}`;
  #slots = new Array(MOST_ENTRIES);
  #first = 0;
  #end = 0;
  #characters = 0;

  /** The number of the oldest entry that is kept. */
  get first() {
    return this.#first;
  }

  /** The number that the next entry gets. */
  get end() {
    return this.#end;
  }

  add(entry) {
    if (this.#end - this.#first === MOST_ENTRIES) this.#dropOldest();
    this.#slots[this.#end % MOST_ENTRIES] = { entry, came: performance.now() };
    this.#end += 1;
    this.#characters += entry.text.length;
    while (this.#characters > MOST_CHARACTERS) this.#dropOldest();
  }

  /** At most so many entries from a number on, which must be kept. */
  entries(from, most) {
    const count = Math.min(most, this.#end - from);
    return Array.from({ length: count }, (_, offset) => this.#slots[(from + offset) % MOST_ENTRIES].entry);
  }

  /** Milliseconds since an entry came; 0 for one that has not. */
  age(number) {
    if (number >= this.#end) return 0;
    return performance.now() - this.#slots[Math.max(number, this.#first) % MOST_ENTRIES].came;
  }

  #dropOldest() {
    const slot = this.#first % MOST_ENTRIES;
    this.#characters -= this.#slots[slot].entry.text.length;
    this.#slots[slot] = undefined;
    this.#first += 1;
  }
}
