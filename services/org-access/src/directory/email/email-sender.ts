import type { Cipher } from '@runyard/encryption';
import { DueWork, type Logger, type Metrics } from '@runyard/service-kit';
import type { Database } from '../../database/database.ts';
import { type Email, placeOfEmail } from './email-outbox.ts';
import { type MailServer, RefusedEmailError } from './mail-server.ts';

/** Emails that one process sends at once. */
const BATCH = 10;
/** A crash between the claim of an email and its end delays it this long; sending takes less. */
const CLAIM_MS = 120_000;
const IDLE_MS = 5_000;
const RETRY_MS = { first: 1_000, last: 30 * 60_000 };

interface ClaimedEmail {
  id: string;
  encrypted_content: string;
  attempts: number;
  expires_at: Date;
}

/**
 * Sends the emails of the outbox. Any number of processes may do so at once: each claims its own. An email is sent again
 * until the mail server takes or refuses it or it expires, after pauses that double. After a crash right behind sending it
 * is sent twice.
 */
export class EmailSender {
  readonly #database: Database;
  readonly #server: MailServer;
  readonly #cipher: Cipher;
  readonly #logger: Pick<Logger, 'info' | 'warn'>;
  readonly #work: DueWork;
  readonly #ended: { inc(labels: { outcome: 'sent' | 'failed' | 'refused' | 'expired' }): void };

  constructor(options: { database: Database; server: MailServer; cipher: Cipher; logger: Logger; metrics: Metrics }) {
    this.#database = options.database;
    this.#server = options.server;
    this.#cipher = options.cipher;
    this.#logger = options.logger;
    this.#ended = options.metrics.counter('emails_total', 'Emails by the outcome of an attempt.', ['outcome']);
    this.#work = new DueWork({
      work: () => this.#sendDue(),
      onError: (error) => options.logger.warn('reading the email outbox failed, will retry', { error }),
    });
  }

  start(): void {
    this.#work.start();
  }

  /** Wakes the sender after a commit of emails. */
  wake(): void {
    this.#work.wake();
  }

  async stop(): Promise<void> {
    await this.#work.stop();
    this.#server.close();
  }

  async #sendDue(): Promise<number> {
    const emails = await this.#claim();
    await Promise.all(emails.map((email) => this.#send(email)));
    return emails.length === BATCH ? 0 : IDLE_MS;
  }

  #claim(): Promise<ClaimedEmail[]> {
    return this.#database.prisma.$queryRaw<ClaimedEmail[]>`
      UPDATE email_outbox SET attempts = attempts + 1, next_attempt_at = now() + ${CLAIM_MS} * interval '1 ms'
      WHERE id IN (
        SELECT id FROM email_outbox WHERE next_attempt_at <= now()
        ORDER BY next_attempt_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
      RETURNING id::text, encrypted_content, attempts, expires_at`;
  }

  async #send({ id, encrypted_content, attempts, expires_at }: ClaimedEmail): Promise<void> {
    if (expires_at.getTime() <= Date.now()) {
      this.#logger.warn('email expired before it could be sent', { emailId: id, attempts });
      return this.#end(id, 'expired');
    }
    try {
      const content: Omit<Email, 'expiresAt'> = JSON.parse(this.#cipher.decrypt(encrypted_content, placeOfEmail(id)));
      await this.#server.send(content);
    } catch (error) {
      if (error instanceof RefusedEmailError) {
        this.#logger.warn('email refused by the mail server', { emailId: id, error: error.cause });
        return this.#end(id, 'refused');
      }
      return this.#postpone(id, attempts, error);
    }
    return this.#end(id, 'sent');
  }

  async #postpone(id: string, attempts: number, error: unknown): Promise<void> {
    const retryMs = Math.min(RETRY_MS.first * 2 ** (attempts - 1), RETRY_MS.last);
    this.#logger.warn('sending an email failed, will retry', { emailId: id, attempts, retryMs, error });
    this.#ended.inc({ outcome: 'failed' });
    await this.#database.prisma.emailOutbox.updateMany({
      where: { id },
      data: { nextAttemptAt: new Date(Date.now() + retryMs) },
    });
  }

  async #end(id: string, outcome: 'sent' | 'refused' | 'expired'): Promise<void> {
    this.#ended.inc({ outcome });
    await this.#database.prisma.emailOutbox.deleteMany({ where: { id } });
  }
}
