import type { LiveResponse } from '@runyard/service-kit';

/** The most characters that are sent at once; a page asks for the state of a larger event. */
const TEXT_LENGTH_MAX = 2_000_000;

/** The stream to a browser, into which its sources write in turn: at most one of them is ahead of a slow reader. */
export class LiveOutput {
  readonly #response: LiveResponse;
  #turn: Promise<void> = Promise.resolve();

  constructor(response: LiveResponse) {
    this.#response = response;
  }

  /** Sends an event. Resolves when the browser has taken it; what a slow one does not take stays where it comes from. */
  send(id: string, event: string, data: string): Promise<void> {
    const text = JSON.stringify({ id, event, data });
    const isTooLarge = text.length > TEXT_LENGTH_MAX;
    const sent = isTooLarge ? JSON.stringify({ id, event: 'too_large', data: '{}' }) : text;
    this.#turn = this.#turn.then(() => this.#response.write(`data: ${sent}\n\n`));
    return this.#turn;
  }
}
