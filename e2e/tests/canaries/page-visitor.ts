import { type IncomingMessage, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { inject } from 'vitest';

/** Opens pages and sends their forms as a browser without script does; it follows no redirect. */
export class PageVisitor {
  readonly #cookies: Map<string, string>;

  constructor(cookies: Record<string, string> = {}) {
    this.#cookies = new Map(Object.entries(cookies));
  }

  /** The values of all cookies that it was given and has not been told to forget. */
  get cookies(): readonly string[] {
    return [...this.#cookies.values()];
  }

  get cookieHeader(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** @param form fields to send; without, the page is opened. Hidden fields are those of its form in `page`. */
  async visit(
    path: string,
    form?: Record<string, string>,
    page = '',
  ): Promise<{ status: number; text: string; location: string }> {
    const fields = { ...hiddenFieldsOf(page, path), ...form };
    const { answer, text } = await this.#send(path, form && new URLSearchParams(fields).toString());
    for (const each of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return { status: answer.statusCode!, text, location: answer.headers.location ?? '' };
  }

  #send(path: string, body: string | undefined): Promise<{ answer: IncomingMessage; text: string }> {
    const method = body === undefined ? 'GET' : 'POST';
    const headers = { cookie: this.cookieHeader, 'content-type': 'application/x-www-form-urlencoded' };
    return new Promise((resolve, reject) => {
      // `fetch` says of itself that it is no person who opens a page.
      const sent = request(inject('platform').url + path, { method, headers }, (answer) => {
        readText(answer).then((text) => resolve({ answer, text }), reject);
      });
      sent.once('error', reject).end(body);
    });
  }
}

function hiddenFieldsOf(page: string, path: string): Record<string, string> {
  const forms = [...page.matchAll(/<form method="post" action="([^"]+)">(.*?)<\/form>/gs)];
  const [, , form = ''] = forms.find(([, action]) => action === path) ?? [];
  const hidden = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)];
  return Object.fromEntries(hidden.map(([, name, value = '']) => [name, decode(value)]));
}

function decode(text: string): string {
  return text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}
