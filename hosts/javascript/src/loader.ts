/**
 * Is loaded before all else in the process that runs a project, and in the threads and processes that the project's
 * code starts: Node passes the option on. Those understand TypeScript from their first line. The process itself
 * registers the loader later, after plain JavaScript is loaded: see `preload-langgraph.ts`.
 */
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const host = fileURLToPath(new URL('./graph-host-child.js', import.meta.url));
if (!isMainThread || process.argv[1] !== host) await import(import.meta.resolve('tsx'));
