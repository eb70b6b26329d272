// The form that sends a message.

import { Bridge } from "./bridge.js";
import { size } from "./format.js";

/** What cannot be sent as it stands; the text says why. */
class Unfit extends Error {}

function fromHex(text) {
  const digits = text.replaceAll(/\s|0x|[,:]/gi, "");
  if (!/^[0-9a-f]*$/i.test(digits)) throw new Unfit("Hex is made of the digits 0 to 9 and a to f.");
  if (digits.length % 2 === 1) throw new Unfit("Hex needs two digits for each byte.");
  return Uint8Array.from({ length: digits.length / 2 }, (_, index) => parseInt(digits.slice(2 * index, 2 * index + 2), 16));
}

function fromBase64(text) {
  const standard = text.replaceAll(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/");
  try {
    return Uint8Array.from(atob(standard), (character) => character.charCodeAt(0));
  } catch {
    throw new Unfit("This is not base64.");
  }
}

export class SendForm {
  #bridge;
  #form = document.querySelector("#send");
  #message = document.querySelector("#message");
  #file = document.querySelector("#file");
  #fileLabel = document.querySelector("label[for=file]");
  #result = document.querySelector("#send-result");
  #button = this.#form.querySelector("button");
  #target;

  /** `target()` names the connection that a message goes to, or null; `changed()` follows each message. */
  constructor(bridge, { target, changed }) {
    this.#bridge = bridge;
    this.#target = target;
    this.#form.addEventListener("submit", async (event) => {
      event.preventDefault();
      await this.#send();
      changed();
    });
    this.#form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#form.requestSubmit();
    });
    for (const choice of this.#form.elements.kind) choice.addEventListener("change", () => this.#showField());
    // A browser that reloads keeps the choice.
    this.#showField();
  }

  focus() {
    (this.#kind === "file" ? this.#file : this.#message).focus();
  }

  get #kind() {
    return this.#form.elements.kind.value;
  }

  #showField() {
    const isFile = this.#kind === "file";
    this.#message.hidden = isFile;
    this.#file.hidden = !isFile;
    this.#fileLabel.hidden = !isFile;
    this.#message.placeholder = {
      text: "A message to the upstream",
      base64: "SGVsbG8=",
      hex: "48 65 6c 6c 6f",
    }[this.#kind] ?? "";
    this.#say("");
  }

  /** The body and its media type; throws `Unfit`. */
  #content() {
    const binary = (body) => ({ body, type: "application/octet-stream" });
    switch (this.#kind) {
      case "base64": return binary(fromBase64(this.#message.value));
      case "hex": return binary(fromHex(this.#message.value));
      case "file": {
        const [file] = this.#file.files;
        if (!file) throw new Unfit("Choose a file first.");
        return binary(file);
      }
      default: return { body: this.#message.value, type: "text/plain; charset=utf-8" };
    }
  }

  async #send() {
    const connection = this.#target();
    if (connection === null || this.#button.ariaDisabled === "true") return;
    try {
      const { body, type } = this.#content();
      this.#say("Sending …");
      this.#button.ariaDisabled = "true";
      const answer = await this.#bridge.ask("POST", Bridge.path(connection, "messages"), {
        body,
        headers: { "Content-Type": type, Prefer: "wait=2" },
      });
      const length = body.size ?? body.byteLength ?? new TextEncoder().encode(body).length;
      this.#say(`${answer.state === "sent" ? "Sent" : "Queued"}, ${size(length)}.`, "good");
      if (document.activeElement === this.#message) this.#message.select();
    } catch (failure) {
      this.#say(failure.message, "bad");
    } finally {
      this.#button.ariaDisabled = null;
    }
  }

  #say(text, tone) {
    this.#result.className = `result ${tone ?? ""}`;
    this.#result.textContent = text;
    this.#message.ariaInvalid = tone === "bad" ? "true" : null;
  }
}
