import { parseArgs } from 'node:util';
import { type Platform, startPlatform } from '../harness/platform.ts';
import { judgeChecks } from './judge-checks.ts';
import type { Kit, KitSources } from './kit.ts';
import { KITS } from './kits.ts';

/**
 * Runs `npm run test:kits -- [--only NAME]`: public kits of checks against a platform of its own. `--a2a-tck` takes the
 * address or folder of a clone of that kit, where its public repository cannot be reached.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { only: { type: 'string' }, 'a2a-tck': { type: 'string' } } });
  const chosen = KITS.filter(({ name }) => values.only === undefined || name === values.only);
  if (chosen.length === 0) throw new Error(`No kit is called so. There are ${KITS.map(({ name }) => name).join(', ')}`);
  const platform = await startPlatform();
  try {
    for (const kit of chosen) {
      if (!(await isAsExpected(kit, platform, { 'a2a-tck': values['a2a-tck'] }))) process.exitCode = 1;
    }
  } finally {
    await platform.stop();
    await platform.remove();
  }
}

/** Runs a kit, and prints what it found. A kit that cannot run is not as expected, and keeps no other from running. */
async function isAsExpected(kit: Kit, platform: Platform, sources: KitSources): Promise<boolean> {
  const print = (line: string) => process.stdout.write(`${kit.name}: ${line}\n`);
  try {
    const { passed, skipped, known, unexpected, stale, isGood } = judgeChecks(
      await kit.run(platform, sources),
      kit.knownFailures,
    );
    for (const { name, detail } of unexpected) print(`failed: ${name}\n${detail.trim().replace(/^/gm, '    ')}`);
    for (const name of stale) print(`known to fail, but does not: ${name}`);
    print(`${passed} passed, ${known} failed as known, ${unexpected.length} failed, ${skipped} skipped`);
    return isGood;
  } catch (error) {
    print(`did not run: ${error instanceof Error ? error.message : error}`);
    return false;
  }
}

await main();
