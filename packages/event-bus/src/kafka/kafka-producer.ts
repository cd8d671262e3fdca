import { type Kafka, type Message, Partitioners, type Producer } from 'kafkajs';

/** What the replicas may take to confirm. */
const CONFIRM_MS = 5_000;

/**
 * An idempotent producer that is given up at its first failure: its sequence numbers may not be the broker's any more. Once it is
 * closed nothing it was given leaves any more, although kafkajs goes on trying: somebody else may publish the same by then.
 */
export class KafkaProducer {
  readonly #producer: Producer;
  readonly #connected: Promise<void>;
  #sending: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(kafka: Kafka) {
    this.#producer = kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      // Asked before each request, those of kafkajs's own repetitions included.
      createPartitioner: () => {
        const choose = Partitioners.DefaultPartitioner();
        return (message) => {
          if (this.#isClosed) throw new Error('the producer is closed');
          return choose(message);
        };
      },
      retry: { initialRetryTime: 100, retries: 1 },
    });
    this.#connected = this.#producer.connect();
    // It may fail after whoever waits for it has given up.
    this.#connected.catch(() => undefined);
  }

  /** Resolves when all in-sync replicas have them. After a rejection the producer is of no use. */
  async send(topic: string, messages: Message[]): Promise<void> {
    await this.#connected;
    const sending = this.#producer.send({ topic, acks: -1, timeout: CONFIRM_MS, messages });
    this.#sending = sending.catch(() => undefined);
    await sending;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connected.catch(() => undefined);
    await this.#producer.disconnect().catch(() => undefined);
    // A send that fails on a closed connection opens another on its way out.
    await this.#sending;
    await this.#producer.disconnect().catch(() => undefined);
  }
}
