/** Makes a project of graphs of the fixtures that has one of the installed lines of LangGraph. */
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fixtures, type HostUnderTest, startHost } from './host-under-test.ts';

/** A release of each line before 1.0 that is supported: the oldest one, and the last ones that differ from others. */
export const LINES = ['0.2.57', '0.3.12', '0.4.10'] as const;

const GRAPHS = [
  'basic/slow.ts',
  'lines/functional.ts',
  'basic/questions.ts',
  'basic/sub.ts',
  'basic/hitl.ts',
  'basic/steps.ts',
  'lines/everything.ts',
];

export async function startLine(version: (typeof LINES)[number]): Promise<HostUnderTest> {
  const projectDir = await mkdtemp(join(tmpdir(), 'line-'));
  const graphs = Object.fromEntries(
    GRAPHS.map((file) => [basename(file, '.ts'), `./${basename(file)}:graph`] as const),
  );
  for (const file of GRAPHS) await cp(join(fixtures, file), join(projectDir, basename(file)));
  await writeFile(join(projectDir, 'package.json'), JSON.stringify({ name: 'line', type: 'module' }));
  await writeFile(join(projectDir, 'langgraph.json'), JSON.stringify({ graphs }));
  await symlink(join(fixtures, 'lines', version, 'node_modules'), join(projectDir, 'node_modules'));
  const host = await startHost('', { configPath: join(projectDir, 'langgraph.json') });
  const close = host.close.bind(host);
  return Object.assign(host, {
    close: async () => {
      await close();
      await rm(projectDir, { recursive: true });
    },
  });
}
