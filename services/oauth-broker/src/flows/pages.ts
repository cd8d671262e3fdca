import { createHash } from 'node:crypto';
import type { Reply } from '@runyard/service-kit';

const STYLE =
  'body{overflow-wrap:anywhere;font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:18vh auto;padding:0 1.5rem;color:#1f2328;background:#fff}' +
  'h1{font-size:1.3rem}@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}a{color:#6cb6ff}}';

/** The page's URL contains the code and the state, so it must not be cached or sent as a referrer. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
};

/** Makes a small page for a person on the way to a provider or back. Escapes the texts. */
export function renderPage(
  status: number,
  title: string,
  texts: readonly string[],
  link?: { text: string; href: string },
): Reply {
  const action = link ? `<p><a href="${escapeHtml(link.href)}">${escapeHtml(link.text)}</a></p>\n` : '';
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
<h1>${escapeHtml(title)}</h1>
${texts.map((text) => `<p>${escapeHtml(text)}</p>`).join('\n')}
${action}</html>
`;
  return { status, body, headers: HEADERS };
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
