// The bridge's HTTP interface, as far as this page uses it.

/** An answer that is not a success; `status` 0: there was none. */
export class Failure extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

/** Asks the bridge that served this file, with a token if there is one. */
export class Bridge {
  token;

  constructor(token = null) {
    this.token = token;
  }

  /** The path of something that a connection has. */
  static path(connection, part) {
    return `v1/connections/${encodeURIComponent(connection)}/${part}`;
  }

  /** Returns the JSON of a successful answer; throws `Failure`. */
  async ask(method, path, { body, headers = {} } = {}) {
    const fields = { ...headers };
    if (this.token !== null) fields.Authorization = `Bearer ${this.token}`;
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
    if (this.token !== null) url.searchParams.set("access_token", this.token);
    return new EventSource(url);
  }

  // Relative to this file, as the page may stand below a path of a proxy, and a worker has no page.
  #url(path) {
    return new URL(path, import.meta.url);
  }
}
