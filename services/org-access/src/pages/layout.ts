import { randomBytes } from 'node:crypto';
import { PASSKEY_SCRIPT_PATH } from '@runyard/contracts';
import { type BoundOperation, page, type Reply } from '@runyard/service-kit';
import { Html, html } from './html.ts';

const STYLE = `
:root { color-scheme: light dark; --text: #1c2024; --faint: #5a626b; --ground: #f6f7f8; --card: #fff; --line: #8b949e;
  --action: #1d4ed8; --on-action: #fff; --fault: #b42318; }
@media (prefers-color-scheme: dark) { :root { --text: #e8eaed; --faint: #a9b1ba; --ground: #101214; --card: #1a1d21;
  --line: #6b7480; --action: #8ab4f8; --on-action: #0b1420; --fault: #ff9d94; } }
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
main { max-width: 30rem; margin: 8vh auto; padding: 2rem; background: var(--card); border-radius: .5rem }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25 }
h2 { margin: 2rem 0 .5rem; font-size: 1.125rem }
label { display: block; margin-top: 1rem; font-weight: 600 }
input { width: 100%; padding: .5rem; border: 1px solid var(--line); border-radius: .25rem; background: var(--ground);
  color: var(--text); font: inherit }
button { margin-top: 1rem; padding: .5rem 1rem; border: 1px solid var(--action); border-radius: .25rem;
  background: var(--action); color: var(--on-action); font: inherit; cursor: pointer }
button.second { background: transparent; color: var(--action) }
:focus-visible { outline: 3px solid var(--action); outline-offset: 2px }
a { color: var(--action) }
.faint { color: var(--faint) }
.fault { color: var(--fault); font-weight: 600 }
code { overflow-wrap: anywhere }
ul { padding-left: 1.25rem }
@media (max-width: 32rem) { main { margin: 0; border-radius: 0 } }
`;

export interface PageContent {
  title: string;
  body: Html;
  /** A sentence about what was wrong with the form. */
  fault?: string | undefined;
  /** True for a page that asks for a passkey. Any other runs no script. */
  hasPasskeyScript?: boolean;
  /** The other origin to which the end of a form leads. */
  formTarget?: string;
}

/** Answers with a page of sign-in. */
export function showPage({ title, body, fault, ...content }: PageContent, reply: Partial<Reply> = {}): Reply {
  const scriptNonce = content.hasPasskeyScript ? randomBytes(16).toString('base64') : undefined;
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${fault === undefined ? '' : 'Error: '}${title} &ndash; Runyard</title>
<style>${new Html(STYLE)}</style>${
    scriptNonce !== undefined && html`\n<script src="${PASSKEY_SCRIPT_PATH}" nonce="${scriptNonce}" defer></script>`
  }
</head>
<body>
<main>
<h1>${title}</h1>
${fault !== undefined && html`<p class="fault" role="alert" id="fault">${fault}</p>`}
${body}
</main>
</body>
</html>
`;
  const { formTarget } = content;
  return page(
    {
      html: document.text,
      style: STYLE,
      ...(scriptNonce !== undefined && { scriptNonce }),
      ...(formTarget !== undefined && { formTarget }),
    },
    reply,
  );
}

/** Keeps the address of a page, which carries a secret, out of `Referer`, also at pages of the same host. */
export function withoutReferrer(route: BoundOperation): BoundOperation {
  return changeHeaders(route, (headers) => ({ ...headers, 'referrer-policy': 'no-referrer' }));
}

/**
 * Lets the end of each form of a page lead to another origin. Browsers apply the policy of a page to all redirects after
 * its form, and a sign-in that began at the console ends there.
 */
export function allowFormsToLeadTo(origin: string, route: BoundOperation): BoundOperation {
  return changeHeaders(route, (headers) => {
    const { 'content-security-policy': policy } = headers;
    if (typeof policy !== 'string') return headers;
    const allowed = policy.replace("form-action 'self'", `form-action 'self' ${origin}`);
    return { ...headers, 'content-security-policy': allowed };
  });
}

type Headers = NonNullable<Reply['headers']>;

function changeHeaders({ operation, handler }: BoundOperation, change: (headers: Headers) => Headers): BoundOperation {
  return {
    operation,
    handler: async (request) => {
      const reply = await handler(request);
      return reply && { ...reply, headers: change(reply.headers ?? {}) };
    },
  };
}

interface FieldOptions {
  name: string;
  label: string;
  type?: 'text' | 'email' | 'password';
  /** The kind of value, for password managers. */
  autocomplete: string;
  value?: string | undefined;
  /** A sentence below the label. */
  hint?: string;
  inputMode?: 'numeric';
  isOptional?: boolean;
}

/** A field of a form with its label. */
export function field({ name, label, type = 'text', hint, ...options }: FieldOptions): Html {
  const { autocomplete, value, inputMode, isOptional } = options;
  return html`<label for="${name}">${label}</label>
${hint !== undefined && html`<p class="faint" id="${name}-hint">${hint}</p>`}
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}"${
    value === undefined ? '' : html` value="${value}"`
  }${inputMode === undefined ? '' : html` inputmode="${inputMode}"`}${isOptional ? '' : html` required`}${
    hint === undefined ? '' : html` aria-describedby="${name}-hint"`
  }>`;
}

/** A value that a form sends without showing it. */
export function hidden(name: string, value: string | undefined): Html | null {
  return value === undefined ? null : html`<input type="hidden" name="${name}" value="${value}">`;
}

export function submit(label: string, options: { isSecond?: boolean; name?: string; value?: string } = {}): Html {
  const { isSecond, name, value } = options;
  return html`<button type="submit"${isSecond ? html` class="second"` : ''}${
    name === undefined ? '' : html` name="${name}" value="${value}"`
  }${isSecond ? html` formnovalidate` : ''}>${label}</button>`;
}
