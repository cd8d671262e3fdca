/**
 * The text of a JSON value that is passed on as it is: neither parsed nor written again. It may stand for its value in
 * an object that becomes JSON; `toJsonBytes` does that without a detour.
 */
export class JsonText {
  /** In UTF-8. */
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  parse(): unknown {
    return JSON.parse(Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength).toString('utf8'));
  }

  toJSON(): unknown {
    return this.parse();
  }
}

/** How deep in arrays and objects a `JsonText` is passed on as it is. */
const DEPTH = 4;

/** Returns what `JSON.stringify` writes, as UTF-8, with the bytes of each `JsonText` that is not too deep inside. */
export function toJsonBytes(value: unknown): Buffer {
  const pieces: Uint8Array[] = [];
  let text = '';
  const write = (part: unknown, depth: number): void => {
    if (part instanceof JsonText) {
      pieces.push(Buffer.from(text), part.bytes);
      text = '';
    } else if (depth === 0 || !isContainer(part)) {
      text += JSON.stringify(part) ?? 'null';
    } else if (Array.isArray(part)) {
      text += '[';
      for (const [index, item] of part.entries()) {
        if (index > 0) text += ',';
        write(item, depth - 1);
      }
      text += ']';
    } else {
      let opening = '{';
      for (const [key, inner] of Object.entries(part)) {
        if (isOmitted(inner)) continue;
        text += `${opening}${JSON.stringify(key)}:`;
        opening = ',';
        write(inner, depth - 1);
      }
      text += opening === '{' ? '{}' : '}';
    }
  };
  write(value, DEPTH);
  return Buffer.concat([...pieces, Buffer.from(text)]);
}

function isContainer(value: unknown): value is unknown[] | Record<string, unknown> {
  return typeof value === 'object' && value !== null && !('toJSON' in value && typeof value.toJSON === 'function');
}

/** Returns whether JSON has no entry for it in an object. */
function isOmitted(value: unknown): boolean {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol';
}
