import { createHash } from 'node:crypto';
import type { Reply } from './reply.ts';

export interface Page {
  /** A whole HTML document. Its styles are one `<style>` element with the text `style`. */
  html: string;
  style: string;
  /** The `nonce` of the only script element of the page. Default: it runs no script. */
  scriptNonce?: string;
  /** The other origin to which the end of a form may lead. Default: none. */
  formTarget?: string;
}

/**
 * Answers with a page of ours. The headers let it run nothing but its own script, load nothing from elsewhere, stand in
 * no frame, be kept in no cache, and be reached by no window that opened it: code of projects is served at the same
 * address. Its address, which may carry a token, goes to no other site.
 */
export function page(
  { html, style, scriptNonce, formTarget }: Page,
  { status = 200, headers = {} }: Partial<Reply> = {},
): Reply {
  const policy = [
    "default-src 'none'",
    `style-src '${digestOf(style)}'`,
    ...(scriptNonce === undefined ? [] : [`script-src 'nonce-${scriptNonce}'`]),
    // Browsers apply it to redirects after the form too.
    formTarget === undefined ? "form-action 'self'" : `form-action 'self' ${formTarget}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    status,
    body: html,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
      ...headers,
    },
  };
}

function digestOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
