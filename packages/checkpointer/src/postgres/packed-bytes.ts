/**
 * Many byte strings as one parameter of a statement, each named by where it begins and how long it is. The driver sends one
 * `bytea` as raw bytes; in an array of them every byte would become two hexadecimal digits.
 */
export class PackedBytes {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  /** Answers where the bytes begin, counted from 1 as SQL's `substring` does. */
  add(bytes: Uint8Array): number {
    const at = this.#length + 1;
    this.#parts.push(bytes);
    this.#length += bytes.byteLength;
    return at;
  }

  toBuffer(): Buffer {
    const [only] = this.#parts;
    if (this.#parts.length === 1 && only) return Buffer.from(only.buffer, only.byteOffset, only.byteLength);
    return Buffer.concat(this.#parts, this.#length);
  }
}
