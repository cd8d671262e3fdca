import { parseArgs } from 'node:util';
import { startPlatform } from '../harness/platform.ts';
import { type FuzzOutcome, fuzzDocument } from './fuzz-document.ts';
import { FUZZ_TARGETS, type PrepareTarget } from './fuzzed-documents.ts';

/**
 * Runs `npm run test:fuzz -- [--seed N] [--only NAME]`: all public documents at length, each against a platform of
 * its own: requests delete keys and workspaces that others need.
 * `--only` takes a name of `FUZZ_TARGETS`, or its beginning.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { seed: { type: 'string' }, only: { type: 'string', default: '' } } });
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
  for (const [name, prepare] of Object.entries(FUZZ_TARGETS)) {
    if (!name.startsWith(values.only)) continue;
    const outcome = await fuzzOnPlatform(prepare, seed);
    const { tested, selected } = outcome.operations;
    process.stdout.write(
      `${outcome.isClean ? '' : outcome.output}\n${name}: ${outcome.requests} requests of ${tested} operations, ` +
        `${outcome.isClean ? 'every answer as described' : `answers outside the contract (--seed ${seed})`}\n`,
    );
    const isWhole = tested === selected && outcome.requests > selected;
    if (!isWhole) process.stdout.write(`only ${tested} of ${selected} operations were requested (--seed ${seed})\n`);
    if (!outcome.isClean || !isWhole) process.exitCode = 1;
  }
}

async function fuzzOnPlatform(prepare: PrepareTarget, seed: number): Promise<FuzzOutcome> {
  const platform = await startPlatform();
  try {
    return await fuzzDocument({ ...(await prepare(platform)), seed });
  } finally {
    await platform.stop();
    await platform.remove();
  }
}

await main();
