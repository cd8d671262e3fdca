import type { Foundation } from '../../foundation.ts';
import { EmailOutbox } from './email-outbox.ts';
import { EmailSender } from './email-sender.ts';
import { MailServer } from './mail-server.ts';

/** A transaction commits its emails within this time, or is rolled back. */
const COMMIT_MS_MAX = 20_000;

/** Returns the outbox for emails, and sends them when a mail server is configured. */
export function openEmail({ config, database, cipher, context }: Foundation): EmailOutbox {
  const { SMTP_URL: url, EMAIL_FROM, PUBLIC_URL } = config;
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
