/** Clients that each do the same again and again until they are stopped. */
export class RepeatingClients {
  readonly #running: Promise<unknown>;
  #isStopping = false;

  constructor(clients: number, doOnce: (client: number) => Promise<void>) {
    const repeat = async (client: number) => {
      while (!this.#isStopping) await doOnce(client);
    };
    this.#running = Promise.all(Array.from({ length: clients }, (_, client) => repeat(client)));
  }

  /** Resolves when everything begun has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }
}
