/** Reads schemas from source in a thread of the graph host: seconds of pure computation would block the graphs. */
import { parentPort, workerData } from 'node:worker_threads';
import { type ReadAnswer, type ReadRequest, SchemaReader } from './extract.ts';

const reader = new SchemaReader(workerData as string[]);

parentPort?.on('message', (request: ReadRequest) => parentPort?.postMessage(answer(request)));

function answer(request: ReadRequest): ReadAnswer {
  try {
    if ('directory' in request) return { files: reader.files.relativeTo(request.directory) };
    return { schemas: reader.read(request) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}
