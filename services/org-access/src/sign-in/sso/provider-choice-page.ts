import { page, type Reply } from '@runyard/service-kit';

const STYLE =
  ':root{color-scheme:light dark}body{font-family:system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}';

/** Answers with the providers of an organization, of which the person chooses one. */
export function providerChoicePage(providers: readonly { displayName: string; href: string }[]): Reply {
  const links = providers.map(
    ({ displayName, href }) => `<li><a href="${escapeHtml(href)}">${escapeHtml(displayName)}</a></li>`,
  );
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sign in</title><style>${STYLE}</style></head>
<body><main><h1>Sign in</h1><ul>${links.join('')}</ul></main></body></html>`;
  return page({ html, style: STYLE });
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
