import { randomUUID } from 'node:crypto';

/** A value of a message as its JSON, in UTF-8. It may be large: the message is put together around it, not with it. */
export class JsonBytes {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  static of(value: unknown): JsonBytes {
    return new JsonBytes(Buffer.from(JSON.stringify(value)));
  }
}

/** Returns the JSON of a message in pieces, of which those that it has as bytes are not copied. */
export function jsonPieces(message: object): Uint8Array[] {
  // Nobody can know it before, and so have it in a text.
  const mark = randomUUID();
  const inserted: Uint8Array[] = [];
  const text = JSON.stringify(message, (_, value: unknown) => {
    if (!(value instanceof JsonBytes)) return value;
    inserted.push(value.bytes);
    return mark;
  });
  const [first = '', ...rest] = text.split(`"${mark}"`);
  return [Buffer.from(first), ...rest.flatMap((part, index) => [inserted[index]!, Buffer.from(part)])];
}
