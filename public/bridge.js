// The bridge's HTTP interface, as far as this page uses it.

const TOKEN = "wsbridge.token";
const LONGEST_PAUSE = 30_000;
/** Records from before it was opened that a stream begins with. */
const HISTORY = 200;

/** An answer that is not a success; `status` 0: there was none. */
export class Failure extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

/** Asks the bridge that served this page, with the token of this tab if there is one. */
export class Bridge {
  #token = sessionStorage.getItem(TOKEN);

  get token() {
    return this.#token;
  }

  set token(token) {
    this.#token = token;
    if (token === null) sessionStorage.removeItem(TOKEN);
    else sessionStorage.setItem(TOKEN, token);
  }

  /** The path of something that a connection has. */
  static path(connection, part) {
    return `v1/connections/${encodeURIComponent(connection)}/${part}`;
  }

  /** Returns the JSON of a successful answer; throws `Failure`. */
  async ask(method, path, { body, headers = {} } = {}) {
    const fields = { ...headers };
    if (this.#token !== null) fields.Authorization = `Bearer ${this.#token}`;
    let response;
    try {
      response = await fetch(this.#url(path), { method, body, headers: fields, cache: "no-store" });
    } catch {
      throw new Failure(0, "the bridge does not answer");
    }
    const answer = await response.json().catch(() => ({}));
    if (response.ok) return answer;
    throw new Failure(response.status, answer.detail ?? answer.title ?? `HTTP status ${response.status}`);
  }

  /** Opens an event stream; a browser's stream has no header fields, so the token goes into the query. */
  open(path, parameters) {
    const url = this.#url(path);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    if (this.#token !== null) url.searchParams.set("access_token", this.#token);
    return new EventSource(url);
  }

  // Relative to the page, which may stand below a path of a proxy.
  #url(path) {
    return new URL(path, document.baseURI);
  }
}

/**
 * Follows a connection's stream for as long as it is not closed, from the newest records that it has.
 *
 * Handlers: `record(record)` for the bridge's JSON records, gaps and snapshots among them, each once and in order;
 * `state(text)`: `live`, `reconnecting` or `refused`; `unauthorized()`, after which it rests.
 */
export class Feed {
  #bridge;
  #connection;
  #handlers;
  #source = null;
  #last = null;
  #failures = 0;
  #timer = 0;

  constructor(bridge, connection, handlers) {
    this.#bridge = bridge;
    this.#connection = connection;
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
    });
    this.#source = source;
    let isRefused = false;
    source.onopen = () => {
      isRefused = false;
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
      if (!isRefused) this.#handlers.state("reconnecting");
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
      if (failure.status === 401) return this.#handlers.unauthorized();
    }
    if (source !== this.#source) return;
    const pause = Math.min(LONGEST_PAUSE, 1000 * 2 ** this.#failures);
    this.#failures += 1;
    this.#timer = setTimeout(() => this.#open(), pause * (0.75 + Math.random() / 2));
  }
}
