/**
 * Lets a project import text, as bundlers do: `.txt` and `.md` files, and in ES modules every file that is imported
 * `with { type: 'text' }`.
 */
import { readFileSync } from 'node:fs';
import Module, { register } from 'node:module';
import { TEXT_EXTENSIONS } from './text-extensions.ts';

/** The part of Node's CommonJS loader that it has no public form of. Bundlers and test runners extend it here too. */
interface CommonJsLoader {
  _extensions: Record<string, (module: { exports: unknown }, file: string) => void>;
}

export function registerTextModules(): void {
  const isSource = import.meta.url.endsWith('.ts');
  register(isSource ? './text-hooks.ts' : './graph-host-text-hooks.js', import.meta.url);
  for (const extension of TEXT_EXTENSIONS) {
    (Module as unknown as CommonJsLoader)._extensions[extension] = (module, file) => {
      module.exports = readFileSync(file, 'utf8');
    };
  }
}
