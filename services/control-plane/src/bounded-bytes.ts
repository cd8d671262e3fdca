import { Transform } from 'node:stream';
import { payloadTooLargeError } from '@runyard/service-kit';

/** Counts the bytes that pass through it, and fails with PayloadTooLargeError as soon as there are too many. */
export class BoundedBytes extends Transform {
  readonly #max: number;
  #count = 0;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  get count(): number {
    return this.#count;
  }

  override _transform(chunk: Buffer, _encoding: string, done: (error: Error | null, chunk?: Buffer) => void): void {
    this.#count += chunk.length;
    if (this.#count > this.#max) done(payloadTooLargeError(this.#max));
    else done(null, chunk);
  }
}
