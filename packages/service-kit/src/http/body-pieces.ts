/** Pieces that are looked at together. Each is an object of some 180 bytes, however few bytes it has. */
const SOME = 256;
/** Pieces that are larger on average stay as they are: their objects are nothing beside their bytes. */
const LARGE_BYTES = 1024;

/** The pieces of a body, which take little more memory than their bytes, in however many of them a client sends it. */
export class BodyPieces {
  readonly #pieces: Buffer[] = [];
  #added = 0;
  #addedBytes = 0;

  get count(): number {
    return this.#pieces.length;
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#added += 1;
    this.#addedBytes += piece.length;
    if (this.#added < SOME) return;
    if (this.#addedBytes < SOME * LARGE_BYTES) this.#pieces.push(Buffer.concat(this.#pieces.splice(-SOME)));
    this.#added = 0;
    this.#addedBytes = 0;
  }

  join(): Buffer {
    return this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
  }
}
