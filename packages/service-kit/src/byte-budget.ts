/** Bytes that a process holds at most for one purpose, whoever they are held for. */
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

  /** Takes the bytes as soon as there is room, behind those who came before. False when the signal came first: nothing is taken. */
  async takeInTurn(bytes: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#waiting.length === 0 && this.hasRoomFor(bytes)) {
      this.take(bytes);
      return true;
    }
    return new Promise((resolve) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(entry), 1);
        // Whoever came behind one that needed much may have room now.
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
