import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Cipher } from '@runyard/encryption';
import { Metrics } from '@runyard/service-kit';
import { createTestDatabase, dumpDatabase, type TestDatabase, waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../src/database/database.ts';
import { type Email, EmailOutbox } from '../src/directory/email/email-outbox.ts';
import { EmailSender } from '../src/directory/email/email-sender.ts';
import { MailServer } from '../src/directory/email/mail-server.ts';
import { TestMailServer } from './support/mail-server.ts';

const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
const cipher = new Cipher(randomBytes(32).toString('base64'));
const outbox = new EmailOutbox({ cipher, isEnabled: true });
const logger = { info: () => undefined, warn: () => undefined } as never;

let file: TestDatabase;
let database: Database;
let mail: TestMailServer;
const senders: EmailSender[] = [];
beforeAll(async () => {
  file = await createTestDatabase(migrationsDir);
  database = await openDatabase({ connectionString: file.url, poolSize: 4, migrationsDir });
  mail = await TestMailServer.start();
});
afterAll(async () => {
  await Promise.all(senders.map((sender) => sender.stop()));
  await mail?.close();
  await database?.close();
  await file?.close();
});

function startSender(url = mail.url): EmailSender {
  const server = new MailServer({ url, from: 'Runyard <no-reply@example.com>' });
  const sender = new EmailSender({ database, server, cipher, logger, metrics: new Metrics() });
  senders.push(sender);
  sender.start();
  return sender;
}

const enqueue = (to: string, email: Partial<Email> = {}) =>
  database.transact((transaction) =>
    outbox.enqueue(transaction, [
      {
        to,
        subject: 'Grüße',
        text: `secret of ${to}`,
        expiresAt: new Date(Date.now() + 60_000),
        ...email,
      },
    ]),
  );
const waiting = () => database.prisma.emailOutbox.count();

describe('emails', () => {
  it('are encrypted while they wait, and go once, however many processes send', async () => {
    const addresses = Array.from({ length: 25 }, (_, index) => `person${index}@example.com`);
    for (const address of addresses) await enqueue(address);
    expect(await dumpDatabase(file.url)).not.toContain('secret of');
    const [one, other] = [startSender(), startSender()];
    await waitFor(async () => (await waiting()) === 0);
    await Promise.all([one.stop(), other.stop()]);
    expect(mail.messages.map(({ to }) => to).sort()).toEqual(addresses.sort());
    expect(await mail.messageTo('person7@example.com')).toContain('secret of person7@example.com');
  });

  it('of a transaction that is rolled back are never sent, and expired ones neither', async () => {
    const failing = database.transact(async (transaction) => {
      const email = { to: 'rolled-back@example.com', subject: 's', text: 't', expiresAt: new Date(Date.now() + 9_000) };
      await outbox.enqueue(transaction, [email]);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await enqueue('expired@example.com', { expiresAt: new Date(Date.now() - 1) });
    const sender = startSender();
    await waitFor(async () => (await waiting()) === 0);
    await sender.stop();
    expect(mail.messages.map(({ to }) => to)).not.toContain('expired@example.com');
    expect(mail.messages.map(({ to }) => to)).not.toContain('rolled-back@example.com');
  });

  it('are sent again after a refusal for now, and given up after one for good', async () => {
    mail.refusals.push(451);
    await enqueue('later@example.com');
    const sender = startSender();
    await waitFor(async () => (await database.prisma.emailOutbox.findFirst())?.attempts === 1);
    await waitFor(async () => {
      sender.wake();
      return (await waiting()) === 0;
    });
    expect(await mail.messageTo('later@example.com')).toContain('secret of');
    mail.refusals.push(550);
    await enqueue('never@example.com');
    sender.wake();
    await waitFor(async () => (await waiting()) === 0);
    await sender.stop();
    expect(mail.messages.map(({ to }) => to)).not.toContain('never@example.com');
  });

  it('survive a mail server that is away', async () => {
    const { port } = mail;
    await mail.close();
    await enqueue('patient@example.com');
    const sender = startSender(`smtp://127.0.0.1:${port}`);
    await waitFor(async () => ((await database.prisma.emailOutbox.findFirst())?.attempts ?? 0) >= 1);
    mail = await TestMailServer.start(port);
    await waitFor(async () => {
      sender.wake();
      return (await waiting()) === 0;
    });
    await sender.stop();
    expect(await mail.messageTo('patient@example.com')).toContain('secret of');
  });
});
