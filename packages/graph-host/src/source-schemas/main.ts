/** A thread of a graph host that reads schemas off source: seconds of pure computation, which would hold up the graphs. */
import { parentPort, workerData } from 'node:worker_threads';
import { extractSchemas, type SchemaSource } from './extract.ts';

parentPort?.postMessage(extractSchemas(workerData as SchemaSource));
