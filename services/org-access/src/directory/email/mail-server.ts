import { createTransport } from 'nodemailer';
import type { Email } from './email-outbox.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const ANSWER_TIMEOUT_MS = 20_000;

/** The mail server will not take this email, however often it is sent. */
export class RefusedEmailError extends Error {
  override readonly name = 'RefusedEmailError';
}

/** Sends over SMTP. A login is never sent in the clear, except on the machine itself. */
export class MailServer {
  readonly #transport: ReturnType<typeof createTransport>;
  readonly #from: string;

  /** @param options.url `smtp://` or `smtps://`, with the login in it */
  constructor(options: { url: string; from: string }) {
    const { hostname, username } = new URL(options.url);
    const isLocal = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
    this.#from = options.from;
    this.#transport = createTransport({
      url: options.url,
      requireTLS: username !== '' && !isLocal,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      greetingTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: ANSWER_TIMEOUT_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  /** @throws RefusedEmailError when it makes no sense to try again, another error otherwise */
  async send({ to, subject, text }: Omit<Email, 'expiresAt'>): Promise<void> {
    try {
      await this.#transport.sendMail({ from: this.#from, to: { name: '', address: to }, subject, text });
    } catch (error) {
      throw isFinal(error) ? new RefusedEmailError('The mail server refuses the email', { cause: error }) : error;
    }
  }

  close(): void {
    this.#transport.close();
  }
}

/** 5xx is final, except to a login: an operator corrects that. */
function isFinal(error: unknown): boolean {
  const { responseCode, code } = error as { responseCode?: number; code?: string };
  return responseCode !== undefined && responseCode >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE');
}
