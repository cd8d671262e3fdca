import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compare } from './compare.ts';
import { INTENDED } from './differences.ts';
import { IntendedDifferences } from './intended-differences.ts';
import { readRecorded, writeRecorded } from './recorded-answers.ts';
import { RECORDED, SCENARIOS } from './scenarios.ts';
import { type ServerPair, startPython, startWorkspace } from './server-pair.ts';

/** Writes the answers for the short form down again, instead of comparing with them. */
const isRecording = process.env.RUNYARD_RECORD_ANSWERS === '1';

let python: ServerPair;
let workspace: ServerPair;
const intended = new IntendedDifferences(INTENDED);

beforeAll(async () => {
  [python, workspace] = [await startPython(), await startWorkspace()];
});
afterAll(async () => {
  await Promise.all([python?.stop(), workspace?.stop()]);
});

describe('the platform answers as the public Python server does, but for intended differences, to', () => {
  it.each(SCENARIOS)('$name', async (scenario) => {
    const { our, their } = (scenario.project === undefined ? python : workspace).newClients();
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
