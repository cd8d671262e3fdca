import path from 'node:path';
import { type PublicPythonServer, packagesOf, preparePython, startPublicPythonServer } from '@runyard/test-kit/python';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Platform, startPlatform } from '../harness/platform.ts';
import { compare } from './compare.ts';
import { INTENDED } from './differences.ts';
import { IntendedDifferences } from './intended-differences.ts';
import { readRecorded, writeRecorded } from './recorded-answers.ts';
import { RecordedClient } from './recorded-client.ts';
import { RECORDED, SCENARIOS } from './scenarios.ts';

/** Writes the answers for the short form down again, instead of comparing with them. */
const isRecording = process.env.RUNYARD_RECORD_ANSWERS === '1';

const PROJECT = path.resolve(import.meta.dirname, '../projects/python');

let ours: Platform;
let theirs: PublicPythonServer;
const intended = new IntendedDifferences(INTENDED);

beforeAll(async () => {
  const python = await preparePython(path.join(import.meta.dirname, 'requirements.txt'));
  [theirs, ours] = await Promise.all([
    startPublicPythonServer(python, PROJECT),
    startPlatform({ project: PROJECT, env: packagesOf(python) }),
  ]);
});
afterAll(async () => {
  await Promise.all([theirs?.stop(), ours?.stop()]);
  await ours?.remove();
});

describe('the platform answers as the public Python server does, but for intended differences, to', () => {
  it.each(SCENARIOS)('$name', async (scenario) => {
    const our = new RecordedClient({ url: ours.deploymentUrl, headers: { 'x-api-key': ours.apiKey } });
    const their = new RecordedClient({ url: theirs.url });
    await Promise.all([scenario.run(our), scenario.run(their)]);
    expect(intended.without(compare(our.answers, their.answers))).toEqual([]);
    if (!RECORDED.includes(scenario.name)) return;
    if (isRecording) await writeRecorded(scenario.name, their.answers);
    // Its address and port are another each time.
    const again = compare(await readRecorded(scenario.name), their.answers);
    expect(again.filter(({ place }) => !place.endsWith('langgraph_api_url'))).toEqual([]);
  });

  it('and each intended difference is still there', () => {
    expect(intended.stale()).toEqual([]);
  });
});
