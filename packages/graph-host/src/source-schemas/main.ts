/** Reads schemas from source in a thread of the graph host: seconds of pure computation would block the graphs. */
import { parentPort, workerData } from 'node:worker_threads';
import { extractSchemas, type SchemaSource } from './extract.ts';

parentPort?.postMessage(extractSchemas(workerData as SchemaSource));
