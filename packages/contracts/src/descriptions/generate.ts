import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildDocuments, formatDocument } from './descriptions.ts';

const folder = fileURLToPath(new URL('../../../../docs/api/', import.meta.url));
mkdirSync(folder, { recursive: true });
for (const [name, document] of Object.entries(buildDocuments())) {
  writeFileSync(`${folder}${name}`, formatDocument(document));
}
