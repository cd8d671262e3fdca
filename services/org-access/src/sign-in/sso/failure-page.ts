import { page, type Reply } from '@runyard/service-kit';
import type { SignInRefusedError } from './sign-in-refusal.ts';

const STYLE =
  ':root{color-scheme:light dark}body{font-family:system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}';

/** Answers a browser whose sign-in failed. */
export function failurePage({ reason, message }: SignInRefusedError): Reply {
  const status = reason === 'provider_unavailable' ? 503 : reason === 'provider_not_found' ? 404 : 403;
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sign-in failed</title><style>${STYLE}</style></head>
<body><main><h1>Sign-in failed</h1><p>${message}</p><p><a href="/login">Back to sign-in</a></p></main></body></html>`;
  return page({ html, style: STYLE }, { status });
}
