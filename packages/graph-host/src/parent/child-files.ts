/** The files that Node is given to start the process that runs a project. */
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

export interface ChildFiles {
  /** URL of what is loaded before all else, there and in what that process starts in its turn. */
  loader: string;
  /** Path of what it runs. */
  entry: string;
}

/** Bundled, they lie beside the service's main file; from source, where they are written, and only the loader reads them. */
export const childFiles: ChildFiles = import.meta.url.endsWith('.ts')
  ? {
      loader: pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href,
      entry: fileURLToPath(new URL('../child/main.ts', import.meta.url)),
    }
  : {
      loader: new URL('./graph-host-loader.js', import.meta.url).href,
      entry: fileURLToPath(new URL('./graph-host-child.js', import.meta.url)),
    };
