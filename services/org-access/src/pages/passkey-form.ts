import type { PasskeyOptions } from '@runyard/contracts';
import type { PasskeyQuestion } from '../sign-in/accounts/passkey-proofs.ts';
import { type Html, html } from './html.ts';
import { hidden, submit } from './layout.ts';

/** A form that the script of the page completes with what the browser's authenticator answers. */
export interface PasskeyForm {
  action: string;
  /** `create`: the authenticator makes a passkey; `get`: it proves that it has one. */
  kind: 'create' | 'get';
  options: PasskeyOptions | PasskeyQuestion['options'];
  fields: Html | null;
  label: string;
  isSecond?: boolean;
  /** Stands in place of the form in a browser that runs no script. */
  note: Html | null;
}

/** The form of a page with `hasPasskeyScript`, of which it has at most one. It is hidden until the script runs. */
export function passkeyForm({ action, kind, options, fields, label, isSecond = false, note }: PasskeyForm): Html {
  return html`${note && html`<p id="passkey-note">${note}</p>`}
<p class="fault" role="alert" id="passkey-fault" hidden></p>
<form method="post" action="${action}" data-passkey="${kind}" data-options="${JSON.stringify(options)}" hidden>${fields}
${hidden('credential', '')}${submit(label, { isSecond })}</form>`;
}
