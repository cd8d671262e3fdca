import type { Cipher } from '@runyard/encryption';
import { v7 as uuidv7 } from 'uuid';
import type { Prisma } from '../../generated/client.ts';

/** An email in plain text. */
export interface Email {
  to: string;
  subject: string;
  text: string;
  /** After this time it is of no use, for example as the link in it has expired, and is not sent any more. */
  expiresAt: Date;
}

/** The place of an email's content for its cipher. */
export const placeOfEmail = (id: string) => `email_outbox/${id}/content`;

/**
 * Takes emails in the transaction that is the reason for them: a rolled back change sends nothing, and a committed one
 * loses nothing in a crash. They wait encrypted, since they carry links that let people in.
 */
export class EmailOutbox {
  readonly #cipher: Cipher;
  #onEnqueued: () => void = () => undefined;

  /** True when a mail server is configured. Otherwise people get their links from whoever invites them. */
  readonly isEnabled: boolean;

  constructor(options: { cipher: Cipher; isEnabled: boolean }) {
    this.#cipher = options.cipher;
    this.isEnabled = options.isEnabled;
  }

  /** Calls a listener after each `enqueue`, which is before the commit of its transaction. */
  onEnqueued(listener: () => void): void {
    this.#onEnqueued = listener;
  }

  /** Must not be called unless `isEnabled`. */
  async enqueue(transaction: Prisma.TransactionClient, emails: readonly Email[]): Promise<void> {
    if (!this.isEnabled) throw new Error('no mail server is configured');
    await transaction.emailOutbox.createMany({
      data: emails.map(({ expiresAt, ...content }) => {
        const id = uuidv7();
        return { id, encryptedContent: this.#cipher.encrypt(JSON.stringify(content), placeOfEmail(id)), expiresAt };
      }),
    });
    this.#onEnqueued();
  }
}
