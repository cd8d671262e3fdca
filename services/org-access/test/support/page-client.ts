import { type IncomingHttpHeaders, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { clientAddressHeaders } from '@runyard/service-kit';
import { INTERNAL_TOKEN } from './platform.ts';

/** A page as a browser without scripts gets it. */
export interface FetchedPage {
  status: number;
  path: string;
  text: string;
  headers: IncomingHttpHeaders;
}

/** Loads pages and sends their forms, with cookies, as a browser does that leaves the site of its pages for no other. */
export class PageClient {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly cookies = new Map<string, string>();

  /** @param address network address from which the browser comes */
  constructor(url: string, address = '192.0.2.1') {
    this.#url = url;
    this.#headers = {
      ...clientAddressHeaders(INTERNAL_TOKEN, address),
      'x-forwarded-host': '127.0.0.1',
      'x-forwarded-proto': 'http',
    };
  }

  get sessionToken(): string | undefined {
    return this.cookies.get('runyard_session');
  }

  open(path: string): Promise<FetchedPage> {
    return this.#load(path, { method: 'GET' });
  }

  /** Sends a form; hidden fields of the page go along, as far as it has a form for that path. */
  submit(path: string, fields: Record<string, string>, page?: FetchedPage): Promise<FetchedPage> {
    const body = new URLSearchParams({ ...(page && hiddenFieldsOf(page, path)), ...fields });
    return this.#load(path, { method: 'POST', body: body.toString() });
  }

  async #load(path: string, { method, body }: { method: string; body?: string }): Promise<FetchedPage> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...this.#headers, ...(cookie !== '' && { cookie }) };
    const {
      status,
      text,
      headers: answered,
    } = await new Promise<Omit<FetchedPage, 'path'>>((resolve, reject) => {
      // `fetch` says of itself that it is no person who opens a page.
      const sent = request(this.#url + path, { method, headers }, (answer) => {
        const { statusCode = 0, headers: answered } = answer;
        readText(answer).then((text) => resolve({ status: statusCode, text, headers: answered }), reject);
      });
      sent.once('error', reject).end(body);
    });
    for (const each of answered['set-cookie'] ?? []) this.#remember(each);
    if (status === 303 && answered.location?.startsWith('/')) return this.open(answered.location);
    return { status, path, text, headers: answered };
  }

  #remember(cookie: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    if (value === '') this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

function hiddenFieldsOf({ text }: FetchedPage, path: string): Record<string, string> {
  const forms = [...text.matchAll(/<form method="post" action="([^"]+)">(.*?)<\/form>/gs)];
  const form = forms.find(([, action]) => action === path)?.[2] ?? '';
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)];
  return Object.fromEntries(fields.map(([, name, value = '']) => [name, decode(value)]));
}

function decode(text: string): string {
  return text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}
