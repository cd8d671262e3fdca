import { extname } from 'node:path';

/**
 * Returns the HTML that a page inserts to show a component: style sheets, and the script that shows it once it is
 * loaded. The client replaces `{{shadowRootId}}` by the id of an element of its own.
 *
 * @param address of this server, as the page reaches it
 * @param basenames of the agent's files
 */
export function uiElements(
  agent: string,
  name: string,
  { address, basenames }: { address: string; basenames: string[] },
) {
  const url = (basename: string) =>
    attribute(`${address}/ui/${encodeURIComponent(agent)}/${encodeURIComponent(basename)}`);
  const styles = basenames
    .filter((basename) => extname(basename) === '.css')
    .map((basename) => `<link rel="stylesheet" href="${url(basename)}" />`);
  // The bundler names the bundle's global variable like this.
  const bundle = `__LGUI_${agent.replace(/[^a-zA-Z0-9]/g, '_')}`;
  const scripts = basenames
    .filter((basename) => extname(basename) === '.js')
    .map((basename) => {
      const show = `${bundle}.render(${inQuotes(JSON.stringify(name))}, "{{shadowRootId}}")`;
      return `<script src="${url(basename)}" onload='${show}'></script>`;
    });
  return [...styles, ...scripts].join('\n');
}

function attribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

/** Escapes text for an attribute in single quotes, where JSON may keep its double ones. */
function inQuotes(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('<', '&lt;');
}
