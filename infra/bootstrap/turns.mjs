/**
 * Puts what several programs print at once one after the other, in the order they began: of one it is shown as it comes, what the others print
 * is kept until it is their turn.
 */
export class Turns {
  #show;
  /** Those that are not over, and those that were over before it was their turn. */
  #waiting = [];

  /** @param {(text: string) => void} show */
  constructor(show) {
    this.#show = show;
  }

  /** @returns where a program that begins prints to, and what to call when it is over */
  take() {
    const turn = { kept: [], isOver: false };
    this.#waiting.push(turn);
    return {
      write: (text) => {
        if (this.#waiting[0] === turn) this.#show(text);
        else turn.kept.push(text);
      },
      end: () => {
        turn.isOver = true;
        while (this.#waiting[0]?.isOver) {
          this.#waiting.shift();
          for (const text of this.#waiting[0]?.kept.splice(0) ?? []) this.#show(text);
        }
      },
    };
  }
}
