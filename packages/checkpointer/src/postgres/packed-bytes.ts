/**
 * Packs many byte strings into one parameter of a statement, each named by its start and length. The driver sends one
 * `bytea` as raw bytes; in an array of them every byte would become two hexadecimal digits.
 */
export class PackedBytes {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  /** Returns the start of the bytes, counted from 1 as in SQL's `substring`. */
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
