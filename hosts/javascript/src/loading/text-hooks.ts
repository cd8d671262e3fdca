/** Is loaded in Node's thread of module hooks. Makes a text file a module whose default export is its text. */
import { readFile } from 'node:fs/promises';
import type { LoadHook } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TEXT_EXTENSIONS } from './text-extensions.ts';

export const load: LoadHook = async (url, context, nextLoad) => {
  if (!url.startsWith('file:')) return nextLoad(url, context);
  const isText = context.importAttributes?.type === 'text' || TEXT_EXTENSIONS.includes(extname(new URL(url).pathname));
  if (!isText) return nextLoad(url, context);
  const text = await readFile(fileURLToPath(url), 'utf8');
  return { format: 'module', shortCircuit: true, source: `export default ${JSON.stringify(text)};` };
};
