/** Reads schemas from source in a thread of the graph host: seconds of pure computation would block the graphs. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { type ReadAnswer, type ReaderData, SchemaReader, type SchemaSource } from './extract.ts';

const BACKGROUND_NICENESS = 10;

const data = workerData as ReaderData;
if (data.inBackground) lowerPriority();
const reader = new SchemaReader(data);

parentPort?.on('message', (source: SchemaSource) => parentPort?.postMessage(answer(source)));

function answer(source: SchemaSource): ReadAnswer {
  const files = reader.files.digests;
  try {
    return { files, schemas: reader.read(source) };
  } catch (error) {
    return { files, error: (error as Error).message };
  }
}

/** Lowers the priority of this thread alone, which Linux can: elsewhere it would be the priority of the graphs too. */
function lowerPriority(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), BACKGROUND_NICENESS);
  } catch {
    // The schemas are read all the same.
  }
}
