// How values read.

const numbers = new Intl.NumberFormat("en");

export const number = (value) => numbers.format(value);

/** `3 messages`, `1 message`. */
export const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

/** A length in bytes. */
export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  const kib = bytes / 1024;
  return kib < 1024 ? `${kib.toFixed(kib < 10 ? 1 : 0)} KiB` : `${(kib / 1024).toFixed(1)} MiB`;
}

/** A span of milliseconds, in its largest unit. */
export function span(milliseconds) {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** A short span of milliseconds, to the tenth of a second. */
export const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(1)} s`;

const two = (value) => String(value).padStart(2, "0");

/** The local time of day with milliseconds. */
export function clock(date) {
  const millis = String(date.getMilliseconds()).padStart(3, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${millis}`;
}

/** The local date, year first. */
export const day = (date) => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;

/** What a lifecycle event says, in words. */
export function sentence(event) {
  switch (event.type) {
    case "connecting": return "Connecting";
    case "open": return event.reconnected ? "Open again" : "Open";
    case "ready": return "Ready";
    case "closed": return `Closed by ${closer(event.by)}: ${closeWords(event)}`;
    case "failed": return `Attempt failed: ${failureWords(event)}`;
    case "reconnecting": return `Attempt ${event.attempt} in ${(event.delayMs / 1000).toFixed(1)} s`;
    case "gave-up": return `Gave up after ${counted(event.attempts, "attempt")}`;
    case "heartbeat-missed": return `${counted(event.misses, "heartbeat")} without an answer`;
    case "heartbeat-lost": return "Lost: heartbeats without an answer";
    default: return String(event.type).replaceAll("-", " ");
  }
}

export function closeWords({ code, reason, clean }) {
  return [code, reason === "" ? null : `“${reason}”`, clean ? null : "not clean"].filter(Boolean).join(", ");
}

export function failureWords({ phase, status, error }) {
  return [phase, status, error].filter((part) => part !== null && part !== undefined).join(", ");
}

const closer = (by) => ({ server: "the server", user: "the user", bridge: "the bridge" })[by] ?? by;
