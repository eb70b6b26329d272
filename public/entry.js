// What the page keeps of a record.

import { counted, sentence } from "./format.js";

/** Characters of a message that are kept. */
const LONGEST_TEXT = 16_384;

const encoder = new TextEncoder();

/** The bytes that a base64 text of the bridge stands for. */
function byteCount(base64) {
  return (base64.length / 4) * 3 - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);
}

function hexadecimal(base64, most) {
  const bytes = atob(base64.slice(0, Math.ceil(most / 3) * 4));
  return Array.from(bytes.slice(0, most), (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join(" ");
}

/** A record's text, and its size if it is a message. */
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
      return { text: sentence(data), event: data.type };
  }
}

/** A record in few characters, whatever its size: all that a row shows of it. */
export function entryOf(record) {
  const { id, type, time, direction, connection, topic } = record;
  return { id, type, time, direction, connection, topic, isCut: false, bytes: null, event: null, ...reading(record) };
}

/** What stands for entries that came and went before they could be shown. */
export function passed(count, id) {
  return { id, type: "gap", isCut: false, bytes: null, event: null, text: `${counted(count, "record")} passed unseen` };
}
