import { copyFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AGENT, REACH } from './fake-engine.ts';

const repository = fileURLToPath(new URL('../../../../', import.meta.url));
const ENTRY_POINT =
  '["sh", "-c", "if [ $1 = reach ]; then exec node /reach.mjs $2; fi; exec node /agent.mjs", "agent"]';
const DOCKERFILE = `FROM node:20-bookworm-slim
LABEL io.runyard.agent-server=1
COPY agent.mjs reach.mjs /
ENTRYPOINT ${ENTRY_POINT}
`;

/** Writes what a real engine needs to build an image of the fake agent, which keeps the contract of docs/images.md. */
export async function writeFakeAgentImage(folder: string): Promise<void> {
  const { build } = createRequire(join(repository, 'package.json'))('esbuild') as typeof import('esbuild');
  await build({
    entryPoints: [AGENT],
    outfile: join(folder, 'agent.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    // The only native part of pg is optional.
    external: ['pg-native'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'error',
  });
  await copyFile(REACH, join(folder, 'reach.mjs'));
  await writeFile(join(folder, 'Dockerfile'), DOCKERFILE);
}
