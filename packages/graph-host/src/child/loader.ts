/**
 * Loaded before all else in the process that runs a project, and in the threads and processes that the project's code starts in
 * its turn: Node hands the option on. Those understand TypeScript from their first line. The process itself learns it later,
 * after what is none: see `preload-langgraph.ts`.
 */
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const host = fileURLToPath(new URL('./graph-host-child.js', import.meta.url));
if (!isMainThread || process.argv[1] !== host) await import(import.meta.resolve('tsx'));
