/** The maximum number of bytes that a process holds for one purpose. */
export class ByteBudget {
  readonly maxBytes: number;
  #heldBytes = 0;
  readonly #waiting: { bytes: number; admit: () => void }[] = [];

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  hasRoomFor(bytes: number): boolean {
    return this.#heldBytes + bytes <= this.maxBytes;
  }

  take(bytes: number): void {
    this.#heldBytes += bytes;
  }

  giveBack(bytes: number): void {
    this.#heldBytes -= bytes;
    while (this.#waiting[0] && this.hasRoomFor(this.#waiting[0].bytes)) this.#waiting.shift()!.admit();
  }

  /** Takes the bytes in turn, all at most, until the signal. Returns false, and holds nothing, when that came first. */
  async hold(bytes: number, until: AbortSignal): Promise<boolean> {
    const taken = Math.min(bytes, this.maxBytes);
    if (!(await this.takeInTurn(taken, until))) return false;
    const giveBack = () => this.giveBack(taken);
    if (until.aborted) giveBack();
    else until.addEventListener('abort', giveBack, { once: true });
    return !until.aborted;
  }

  /**
   * Takes the bytes when there is room, after earlier callers. Returns false, and takes nothing, when the signal aborts
   * first.
   */
  async takeInTurn(bytes: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#waiting.length === 0 && this.hasRoomFor(bytes)) {
      this.take(bytes);
      return true;
    }
    return new Promise((resolve) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(entry), 1);
        // Callers behind one that needed much may have room now.
        this.giveBack(0);
        resolve(false);
      };
      const entry = {
        bytes,
        admit: () => {
          signal.removeEventListener('abort', leave);
          this.take(bytes);
          resolve(true);
        },
      };
      this.#waiting.push(entry);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}
