import type { LocalProject } from '@runyard/deployments';
import { BuildError } from '@runyard/deployments';
import { type GraphHost, startGraphHost } from '@runyard/host-client';
import { GraphLoadError, type HostLog } from '@runyard/host-protocol';
import { openProject } from '@runyard/project';
import type { BuildUser } from '../commands/build-users.ts';
import { type KernelLimits, withKernelLimits } from '../commands/kernel-limits.ts';

const LOAD_TIMEOUT_MS = 120_000;
/** Milliseconds for the schemas of one graph. */
const SCHEMAS_TIMEOUT_MS = 120_000;

/**
 * Loads every graph of a project as its deployment will: with the project's packages, in a process of its own, with the
 * environment of the project's code, and stores the schemas of the graphs with it. Resolves with the names of the
 * graphs.
 *
 * @throws BuildError that names the fault in `langgraph.json`, a graph, or the project's LangGraph packages
 */
export async function inspectProject(
  project: LocalProject,
  secrets: Record<string, string>,
  options: {
    signal: AbortSignal;
    user: BuildUser | null;
    home: string;
    limits: KernelLimits;
    onLog: (line: HostLog) => void;
    onSpawn: (pid: number) => void;
  },
): Promise<string[]> {
  const { signal, user, home, limits, onLog, onSpawn } = options;
  try {
    const {
      project: opened,
      configPath,
      environment,
    } = await openProject(
      { PROJECT_DIR: project.directory, LANGGRAPH_CONFIG_PATH: project.configPath, PROJECT_ENV: secrets },
      process.env,
    );
    const host = await startGraphHost({
      configPath,
      environment: user ? { ...environment, HOME: home, TMPDIR: home } : environment,
      user: user ?? undefined,
      wrapCommand: (command) => withKernelLimits(limits, command),
      startTimeoutMs: LOAD_TIMEOUT_MS,
      startSignal: signal,
      onLog,
      onSpawn,
    });
    const graphs = host.graphs().map(({ graphId }) => graphId);
    // In Python they are read from the graphs themselves.
    if (opened.language === 'javascript') await storeSchemas(host, options);
    await host.close();
    return graphs;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof GraphLoadError)) throw error;
    // The project's author does not know the folder of the build, so the message names paths inside it.
    throw new BuildError(error.message.replaceAll(`${project.directory}/`, ''), { cause: error });
  }
}

/** Stores what takes seconds to read from the source, so that no request waits for it. A project runs without it too. */
async function storeSchemas(
  host: GraphHost,
  { signal, onLog }: { signal: AbortSignal; onLog: (line: HostLog) => void },
): Promise<void> {
  const kill = () => void host.kill();
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  try {
    await host.storeSchemas({ sourceTimeoutMs: SCHEMAS_TIMEOUT_MS });
  } catch (error) {
    signal.throwIfAborted();
    onLog({ level: 'warn', message: `The schemas of the graphs are not stored: ${(error as Error).message}` });
  } finally {
    signal.removeEventListener('abort', kill);
  }
}
