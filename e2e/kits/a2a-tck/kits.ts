import path from 'node:path';
import { startKeyProxy } from '../../harness/key-proxy.ts';
import type { Platform } from '../../harness/platform.ts';
import { cloneCommit } from '../clone.ts';
import type { Check, Kit, KitSources } from '../kit.ts';
import { runPytest } from '../run-program.ts';
import { KNOWN_FAILURES_OF_03 } from './known-failures-of-0.3.ts';
import { KNOWN_FAILURES_OF_10 } from './known-failures-of-1.0.ts';

/** It is published as a repository alone. */
const REPOSITORY = 'https://github.com/a2aproject/a2a-tck';
const REQUIREMENTS = path.join(import.meta.dirname, 'requirements.txt');

/** The head of its branch `1.0-dev`. It reads the card below an address. */
export const a2aTck10: Kit = {
  name: 'a2a-tck-1.0',
  knownFailures: KNOWN_FAILURES_OF_10,
  run: (platform, sources) =>
    run('357c4a87afa2818731590647cccbea31c31733a2', platform, sources, (agent) => [
      'tests/compatibility',
      `--sut-host=${agent}/1.0`,
      '--webhook-host=127.0.0.1',
    ]),
};

/** The head of its branch `0.3.x`, by JSON-RPC. It reads the card at the root of a host. */
export const a2aTck03: Kit = {
  name: 'a2a-tck-0.3',
  knownFailures: KNOWN_FAILURES_OF_03,
  run: (platform, sources) =>
    run('eb1f804c27ea25db8805264d9ed2d7ca077a7776', platform, sources, (agent) => [
      ...['tests/mandatory', 'tests/optional/capabilities', 'tests/optional/multi_transport'],
      ...[`--sut-url=${agent}`, '--test-scope=all', '--transports=jsonrpc'],
    ]),
};

/** Runs a commit against the agent `kit`, by a proxy that adds the key: the kits cannot be given one. */
async function run(
  commit: string,
  { url, apiKey, deploymentUrl }: Platform,
  sources: KitSources,
  argsFor: (agent: string) => string[],
): Promise<Check[]> {
  const cwd = await cloneCommit(sources['a2a-tck'] ?? REPOSITORY, commit);
  const agent = `${new URL(deploymentUrl).pathname}/a2a/kit`;
  const card = '/.well-known/agent-card.json';
  const proxy = await startKeyProxy(url, apiKey, { [card]: agent + card });
  try {
    return await runPytest({ requirements: REQUIREMENTS, cwd, args: argsFor(proxy.url + agent) });
  } finally {
    await proxy.close();
  }
}
