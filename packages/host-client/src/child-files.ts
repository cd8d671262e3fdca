/** The files with which a process that runs a project is started. */
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

export interface ChildFiles {
  /** URL of the module that is loaded before all else, in that process and in those it starts. */
  loader: string;
  /** Path of the entry file. */
  entry: string;
  /** Folder of the Python package that runs projects in Python. */
  python: string;
}

/**
 * The files are next to the service's bundle, or in the source folder when nothing is bundled; then tsx is the loader.
 */
export const childFiles: ChildFiles = import.meta.url.endsWith('.ts')
  ? {
      loader: pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href,
      entry: fileURLToPath(new URL('../../../hosts/javascript/src/main.ts', import.meta.url)),
      python: fileURLToPath(new URL('../../../hosts/python/src', import.meta.url)),
    }
  : {
      loader: new URL('./graph-host-loader.js', import.meta.url).href,
      entry: fileURLToPath(new URL('./graph-host-child.js', import.meta.url)),
      python: fileURLToPath(new URL('./python', import.meta.url)),
    };
