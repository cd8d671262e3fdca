import type { MeasuredUsage, RunningPart, RunningRevision } from '../drivers/driver.ts';
import { type ProcessUsage, processUsage } from './process-usage.ts';
import { readServiceFigures, type ServiceFigures } from './service-figures.ts';

/** A sample of one process of a deployment. */
export interface PartReading extends RunningPart {
  revisionId: string;
  usage: ProcessUsage | MeasuredUsage | null;
  figures: ServiceFigures | null;
}

/** Samples of all processes of a deployment, including draining revisions. */
export interface Reading {
  atMs: number;
  parts: PartReading[];
}

export async function readParts(revisions: Iterable<RunningRevision>): Promise<Reading> {
  const asked = [...revisions].flatMap((revision) =>
    revision.parts().map(async (part) => ({
      ...part,
      revisionId: revision.revisionId,
      usage: part.pid === null ? ((await part.measure?.()) ?? null) : await processUsage(part.pid),
      figures: part.url === null ? null : await readServiceFigures(part.url),
    })),
  );
  const parts = await Promise.all(asked);
  return { atMs: Date.now(), parts };
}
