import { type Kafka, type Message, Partitioners, type Producer } from 'kafkajs';

/** Milliseconds for the replicas to confirm. */
const CONFIRM_MS = 5_000;

/**
 * An idempotent producer that is discarded at its first failure, because its sequence numbers may then differ from the
 * broker's. After it is closed, nothing it was given is sent any more, although kafkajs retries: another process may
 * publish the same by then.
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
      // The check runs before each request, including kafkajs's own repetitions.
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
    // It may fail after its callers have given up.
    this.#connected.catch(() => undefined);
  }

  /**
   * Resolves when all in-sync replicas have stored the messages. After a rejection the producer cannot be used any
   * more.
   */
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
    // A send that fails on a closed connection opens another one.
    await this.#sending;
    await this.#producer.disconnect().catch(() => undefined);
  }
}
