// How much of a flood is shown at a time.

/** Milliseconds from one showing to the next. */
const PERIOD = 100;
/** The same while the tab is hidden, when there are no frames. */
const HIDDEN_PERIOD = 1000;
/** Milliseconds that a showing may take, laying out and painting included. */
const BUDGET = 48;
/** Bounds of what is shown at a time: each showing costs some milliseconds, however little it shows. */
const FEWEST = 30;
const MOST = 100;
/** Milliseconds; what took longer was not the page's doing, as when the machine slept. */
const LONGEST_REST = 500;

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Leaves more than half of the thread's time for what the user does, on a slow or busy machine too. */
export class Pace {
  #count = 50;
  #began = 0;

  /** How many entries to show at a time. */
  get count() {
    return this.#count;
  }

  /** Waits for the frame in which to show. */
  async frame() {
    await Promise.race([new Promise(requestAnimationFrame), pause(HIDDEN_PERIOD)]);
    this.#began = performance.now();
  }

  /** Sees how long it took to show so many, and waits until more may be shown. */
  async rest(shown) {
    // A task of its own comes after the painting.
    await pause(0);
    const took = performance.now() - this.#began;
    if (took > BUDGET) this.#count = Math.max(FEWEST, Math.floor((this.#count * BUDGET) / took));
    else if (shown >= this.#count) this.#count = Math.min(MOST, this.#count + 5);
    const rest = Math.min(Math.max(PERIOD - took, 1.5 * took), LONGEST_REST);
    await pause(document.hidden ? HIDDEN_PERIOD : rest);
  }
}
