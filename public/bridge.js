// The bridge's HTTP interface, as far as this page uses it.

/** An answer that is not a success; `status` 0: there was none. */
export class Failure extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

/**
 * Asks the bridge that served this file. Where that wants a token, it is shown once; from then on the browser sends the
 * cookie of a session, which no script can read.
 */
export class Bridge {
  /** The path of something that a connection has. */
  static path(connection, part) {
    return `v1/connections/${encodeURIComponent(connection)}/${part}`;
  }

  /** Returns the JSON of a successful answer; throws `Failure`. */
  async ask(method, path, { body, headers = {} } = {}) {
    let response;
    try {
      response = await fetch(this.#url(path), { method, body, headers, cache: "no-store" });
    } catch {
      throw new Failure(0, "the bridge does not answer");
    }
    const answer = await response.json().catch(() => ({}));
    if (response.ok) return answer;
    throw new Failure(response.status, answer.detail ?? answer.title ?? `HTTP status ${response.status}`);
  }

  /** Begins a session; throws `Failure`, with the status 401 if the bridge does not know the token. */
  logIn(token) {
    return this.ask("POST", "v1/session", { headers: { Authorization: `Bearer ${token}` } });
  }

  logOut() {
    return this.ask("DELETE", "v1/session");
  }

  /** Opens an event stream. */
  open(path, parameters) {
    const url = this.#url(path);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return new EventSource(url);
  }

  // Relative to this file, as the page may stand below a path of a proxy, and a worker has no page.
  #url(path) {
    return new URL(path, import.meta.url);
  }
}
