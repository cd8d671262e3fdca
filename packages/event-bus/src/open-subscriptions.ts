import { BusClosedError, type Subscription } from './event-bus.ts';

/** The subscriptions of one bus: they end with it, and none begins afterwards. */
export class OpenSubscriptions {
  readonly #open = new Set<Subscription>();
  #isClosed = false;

  /** @throws BusClosedError */
  assertOpen(): void {
    if (this.#isClosed) throw new BusClosedError();
  }

  async start(subscription: Subscription & { start(): Promise<void> }): Promise<Subscription> {
    this.#open.add(subscription);
    await subscription.start();
    return {
      close: async () => {
        this.#open.delete(subscription);
        await subscription.close();
      },
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#open].map((subscription) => subscription.close()));
    this.#open.clear();
  }
}
