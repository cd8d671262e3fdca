/** Reads schemas from source in a thread of the graph host: seconds of pure computation would block the graphs. */
import { parentPort, workerData } from 'node:worker_threads';
import { type ReadSchemas, SchemaReader, type SchemaSource } from './extract.ts';

const reader = new SchemaReader(workerData as string[]);

parentPort?.on('message', (source: SchemaSource) => parentPort?.postMessage(read(source)));

function read(source: SchemaSource): ReadSchemas {
  try {
    return { schemas: reader.read(source) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}
