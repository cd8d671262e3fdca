import type { Cipher } from '@runyard/encryption';
import type { ServiceContext } from '@runyard/service-kit';
import type { Config } from './config.ts';
import type { Database } from './database/database.ts';
import { EmailOutbox } from './email/email-outbox.ts';
import { EmailSender } from './email/email-sender.ts';
import { MailServer } from './email/mail-server.ts';

/** A transaction commits its emails within this time, or is rolled back. */
const COMMIT_MS_MAX = 20_000;

/** Returns the outbox for emails, and sends them when a mail server is configured. */
export function openEmail(
  { SMTP_URL: url, EMAIL_FROM, PUBLIC_URL }: Config,
  { database, cipher, context }: { database: Database; cipher: Cipher; context: ServiceContext },
): EmailOutbox {
  const outbox = new EmailOutbox({ cipher, isEnabled: url !== undefined });
  if (url === undefined) return outbox;
  const from = EMAIL_FROM ?? `Runyard <no-reply@${new URL(PUBLIC_URL).hostname}>`;
  const { logger, metrics, lifecycle } = context;
  const sender = new EmailSender({ database, server: new MailServer({ url, from }), cipher, logger, metrics });
  let enqueuedAt = Number.NEGATIVE_INFINITY;
  outbox.onEnqueued(() => {
    enqueuedAt = performance.now();
  });
  database.onCommit(() => {
    if (performance.now() - enqueuedAt < COMMIT_MS_MAX) sender.wake();
  });
  sender.start();
  lifecycle.onStop('email sender', () => sender.stop());
  return outbox;
}
