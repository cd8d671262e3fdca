/** Reads schemas from source in a thread of the graph host: seconds of pure computation would block the graphs. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { type ReadAnswer, type ReaderData, type ReadRequest, SchemaReader } from './extract.ts';

const BACKGROUND_NICENESS = 10;

const { files, inBackground } = workerData as ReaderData;
if (inBackground) lowerPriority();
const reader = new SchemaReader(files);

parentPort?.on('message', (request: ReadRequest) => parentPort?.postMessage(answer(request)));

function answer(request: ReadRequest): ReadAnswer {
  try {
    if ('directory' in request) return { files: reader.files.relativeTo(request.directory) };
    return { schemas: reader.read(request) };
  } catch (error) {
    return { error: (error as Error).message };
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
