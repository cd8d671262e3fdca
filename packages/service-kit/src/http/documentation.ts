import type { OpenApiDocument } from '@runyard/contracts';

/**
 * Renders a service's OpenAPI document as one page. It loads no foreign script, so it works without a network and shows
 * exactly what is validated.
 */
export function renderDocumentation(document: OpenApiDocument): string {
  const byTag = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags[0] ?? 'other';
      byTag.set(tag, [...(byTag.get(tag) ?? []), renderOperation(method, path, operation)]);
    }
  }
  const sections = [...byTag].map(([tag, operations]) => `<h2>${escapeHtml(tag)}</h2>${operations.join('')}`);
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `<details id="schema-${escapeHtml(name)}"><summary>${escapeHtml(name)}</summary>${json(schema)}</details>`,
  );
  const schemes = Object.entries(document.components.securitySchemes).map(
    ([name, scheme]) =>
      `<details id="security-${escapeHtml(name)}"><summary>${escapeHtml(name)}</summary>${json(scheme)}</details>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(document.info.title)}</title><style>${DOCUMENTATION_STYLE}</style></head><body><main>
<h1>${escapeHtml(document.info.title)} <small>${escapeHtml(document.info.version)}</small></h1>
<p>${escapeHtml(document.info.description ?? '')} <a href="openapi.json">openapi.json</a></p>
${sections.join('\n')}${schemes.length > 0 ? `<h2>security</h2>${schemes.join('')}` : ''}
${schemas.length > 0 ? `<h2>schemas</h2>${schemas.join('')}` : ''}</main></body></html>`;
}

type DocumentedOperation = OpenApiDocument['paths'][string][string];

function renderOperation(method: string, path: string, operation: DocumentedOperation): string {
  const parameters = (operation.parameters ?? []).map(
    ({ name, in: place, required, schema }) =>
      `<tr><td><code>${escapeHtml(name)}</code></td><td>${place}${required ? ', required' : ''}</td><td>${json(schema)}</td></tr>`,
  );
  const body = operation.requestBody ? `<h4>Body</h4>${contents(operation.requestBody.content)}` : '';
  const responses = Object.entries(operation.responses).map(
    ([status, { description, content }]) =>
      `<h4>${status} <small>${escapeHtml(description)}</small></h4>${content ? contents(content) : ''}`,
  );
  return `<details id="${escapeHtml(operation.operationId)}"><summary><b class="${method}">${method.toUpperCase()}</b>
<code>${escapeHtml(path)}</code> ${escapeHtml(operation.summary)}</summary>
${operation.description === undefined ? '' : `<p>${escapeHtml(operation.description)}</p>`}
${securityOf(operation)}
${parameters.length > 0 ? `<h4>Parameters</h4><table>${parameters.join('')}</table>` : ''}${body}${responses.join('')}</details>`;
}

/** Says by which schemes callers prove who they are: of several that stand together, all are needed. */
function securityOf({ security }: DocumentedOperation): string {
  if (security.length === 0) return '';
  const name = (each: string) => `<a href="#security-${escapeHtml(each)}">${escapeHtml(each)}</a>`;
  const alternatives = security.map(
    (schemes) =>
      Object.keys(schemes ?? {})
        .map(name)
        .join(' and ') || 'nothing',
  );
  return `<p>Authentication: ${alternatives.join(', or ')}</p>`;
}

function contents(content: Record<string, { schema?: unknown; example?: unknown }>): string {
  return Object.entries(content)
    .map(
      ([type, { schema, example }]) =>
        `<p><small>${escapeHtml(type)}</small></p>${json(schema)}${example === undefined ? '' : `<p><small>example</small></p>${json(example)}`}`,
    )
    .join('');
}

function json(value: unknown): string {
  const text = escapeHtml(JSON.stringify(value, null, 2) ?? '');
  const linked = text.replace(
    /#\/components\/schemas\/([\w.-]+)/g,
    (reference, name: string) => `<a href="#schema-${name}">${reference}</a>`,
  );
  return `<pre>${linked}</pre>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** The only style of the page. */
export const DOCUMENTATION_STYLE = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}body{margin:0}main{max-width:60rem;margin:auto;padding:1rem}
h2{margin-top:2rem;border-bottom:1px solid #8886}small{font-weight:400;opacity:.7}summary{cursor:pointer;padding:.3rem 0}
details{border-bottom:1px solid #8883}details details{border:0}pre{background:#8881;padding:.6rem;overflow:auto;border-radius:.3rem}
b{display:inline-block;min-width:4.2rem}.get{color:#2a7}.post{color:#27c}.put,.patch{color:#b70}.delete{color:#c33}
table{width:100%;border-collapse:collapse}td{vertical-align:top;padding:.2rem .6rem .2rem 0}`;
