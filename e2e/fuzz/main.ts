import { parseArgs } from 'node:util';
import { startPlatform } from '../harness/platform.ts';
import { fuzzDocument } from './fuzz-document.ts';
import { listFuzzTargets } from './fuzzed-documents.ts';

/** Runs `npm run test:fuzz -- [--seed N]`: all public documents at length, against a platform of its own. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { seed: { type: 'string' } } });
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
  const platform = await startPlatform();
  try {
    for (const target of listFuzzTargets(platform)) {
      const outcome = await fuzzDocument({ ...target, seed, depth: 'thorough' });
      process.stdout.write(
        `${outcome.isClean ? '' : outcome.output}\n${target.document}: ${outcome.requests} requests, ` +
          `${outcome.isClean ? 'every answer as described' : `answers outside the contract (--seed ${seed})`}\n`,
      );
      if (!outcome.isClean) process.exitCode = 1;
    }
  } finally {
    await platform.stop();
    await platform.remove();
  }
}

await main();
