import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildDocuments } from './descriptions.ts';
import { toDocumentLines } from './document-lines.ts';

const { values } = parseArgs({ options: { whole: { type: 'string' } } });
const documents = Object.entries(buildDocuments());
if (values.whole === undefined) {
  const folder = fileURLToPath(new URL('../../../../docs/api/', import.meta.url));
  for (const [name, document] of documents) writeFileSync(join(folder, `${name}.jsonl`), toDocumentLines(document));
} else {
  mkdirSync(values.whole, { recursive: true });
  for (const [name, document] of documents) {
    writeFileSync(join(values.whole, `${name}.json`), `${JSON.stringify(document, null, 2)}\n`);
  }
}
