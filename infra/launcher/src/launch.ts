import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SignInLink } from '@runyard/contracts';
import {
  InfrastructureError,
  isKafkaNamed,
  isPortFree,
  openSupervisor,
  startInfrastructure,
} from '@runyard/local-infra';
import { bootstrapOrganization } from './bootstrap-organization.ts';
import { deployProject } from './deployment/deploy-project.ts';
import { describeGraphs } from './describe-graphs.ts';
import type { LauncherFlags } from './flags.ts';
import { formatLogLine } from './logs/format-line.ts';
import { LogFollower } from './logs/log-follower.ts';
import { PlatformClient } from './platform-client.ts';
import type { Progress } from './progress.ts';
import { installProjectDependencies } from './project/install-dependencies.ts';
import { readProject } from './project/read-project.ts';
import { writeReadyFile, writeRootFile } from './ready-file.ts';
import { reloadOnEdits, watchProject } from './reload/reload-project.ts';
import { chooseProjectUsers, closeDataFolder } from './services/project-users.ts';
import { startServices } from './services/start-services.ts';
import { printLinksOnEnter } from './sign-in-links.ts';
import { formatWelcome } from './welcome.ts';

export interface LaunchOptions extends LauncherFlags {
  repository: string;
  progress: Progress;
  /** Aborts when the platform has to stop, also in the middle of its start. */
  stopping: AbortSignal;
}

/**
 * Starts everything up to the deployed project, and after `stopping` closes it in reverse order. Resolves when
 * everything has stopped.
 */
export async function launch(options: LaunchOptions): Promise<void> {
  const { dataDir, progress, stopping } = options;
  const project = await readProject(options.project);
  if (options.port !== 0 && !(await isPortFree(options.port, options.host))) {
    throw new InfrastructureError(
      `Port ${options.port} is taken: stop what uses it, or choose another with --port (0 takes a free one).`,
    );
  }
  const readyFile = join(dataDir, 'ready.json');
  const rootFile = join(dataDir, 'root.json');
  const closings: (() => Promise<unknown>)[] = [];
  /** Starts a part unless it is too late, and remembers how to close it. */
  const open = async <T>(start: () => Promise<T>, close: (part: T) => Promise<unknown>): Promise<T> => {
    stopping.throwIfAborted();
    const starting = start();
    // A stop does not wait for a half started part: the supervisor ends its processes.
    const part = await Promise.race([starting, untilAborted(stopping).then(() => stopping.throwIfAborted())]);
    closings.unshift(() => close(part as T));
    return part as T;
  };
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const supervisor = await open(
      () => openSupervisor(dataDir),
      (part) => part.close(),
    );
    const removeFiles = () => Promise.all([readyFile, rootFile].map((file) => rm(file, { force: true })));
    await open(removeFiles, removeFiles);
    const { repository } = options;
    const users = await chooseProjectUsers({ repository, dataDir, project, environment: process.env });
    // Other users have to read what is installed and built from here on.
    if (users.settings) process.umask(0o022);
    // Downloading takes the network, starting servers the processor: they do not wait for each other.
    const installing = installProjectDependencies(project, { supervisor, progress, stopping });
    installing.catch(() => {}); // It is awaited below; until then it must not end the process.
    const hasKafka = options.kafka || isKafkaNamed(process.env);
    if (!hasKafka) progress.step('Events go over Redis Streams (--kafka: over Kafka)');
    const servers = await open(
      () =>
        startInfrastructure({
          dataDir,
          supervisor,
          servers: hasKafka ? ['postgres', 'redis', 'kafka'] : ['postgres', 'redis'],
          requireKafka: true,
          progress: (line, work) => progress.step(line, work),
        }),
      (part) => part.stop(),
    );
    const kafka = servers.kafka ?? null;
    if (users.settings) await closeDataFolder(dataDir, [project.folder, repository]);
    const services = await open(
      () =>
        startServices({
          ...options,
          logRuns: options.prints !== 'quiet',
          rootFile,
          supervisor,
          servers: { ...servers, kafka },
          projectUsers: users.settings,
        }),
      (part) => part.stop(),
    );
    const { apiKey, setupPath } = await bootstrapOrganization({ dataDir, orgAccess: services.orgAccess });
    const client = new PlatformClient(services.url, { 'x-api-key': apiKey });
    await installing;
    const watch = options.reloads
      ? await open(
          () => watchProject(project, { dataDir, progress }),
          (part) => part.close(),
        )
      : undefined;
    const deployments = await deployProject({ client, project, progress, stopping });
    const [deployment] = deployments;
    const describing = describeGraphs(client, deployment.id, project.graphs);
    await writeRootFile(rootFile, { deployment_id: deployment.id, ...(!options.needsKey && { api_key: apiKey }) });
    const { url, consoleUrl } = services;
    const createSignInLink = async () =>
      url + (await services.orgAccess.call<SignInLink>('POST', '/internal/sign-in-links', {})).path;
    // The link ends soon: it is made when somebody can follow it.
    const consoleSignInUrl = await createSignInLink();
    const isAtTerminal = process.stdin.isTTY;
    await writeReadyFile(readyFile, {
      url,
      apiKey,
      consoleUrl,
      consoleSignInUrl,
      deployments,
      eventBus: kafka ? 'kafka' : 'redis',
    });
    progress.done('Ready');
    progress.say(
      formatWelcome({
        url,
        apiKey,
        needsKey: options.needsKey,
        consoleUrl,
        consoleSignInUrl,
        printsMoreLinks: isAtTerminal,
        setupUrl: setupPath === null ? null : url + setupPath,
        deployment,
        graphs: project.graphs,
        described: await describing,
        columns: process.stdout.columns,
        dataDir,
        projects: users.line,
      }),
    );
    if (isAtTerminal) {
      await open(
        async () => printLinksOnEnter(process.stdin, { create: createSignInLink, say: (line) => progress.say(line) }),
        async (part) => part.close(),
      );
    }
    if (options.prints !== 'quiet') {
      await open(
        () => printLogs(join(dataDir, 'data-plane/logs'), options),
        (part) => part.close(),
      );
    }
    const reload = { client, deploymentId: deployment.id, supervisor, progress, stopping };
    const reloading = watch ? [reloadOnEdits(project.folder, { ...reload, watch })] : [];
    await Promise.race([untilAborted(stopping), services.firstFailure, ...reloading]);
  } finally {
    if (closings.length > 0) progress.step('Stopping');
    for (const close of closings) await close().catch((error) => progress.step(`While stopping: ${error.message}`));
    if (closings.length > 0) progress.done('Stopped');
  }
}

/** Prints what deployments do, from now on. */
async function printLogs(folder: string, { prints, progress }: LaunchOptions): Promise<LogFollower> {
  // Each start has log files of its own.
  const startedAt = Date.now() - process.uptime() * 1000;
  const follower = new LogFollower(folder, startedAt, (line) => {
    const text = formatLogLine(line, { isVerbose: prints === 'all' });
    if (text !== null) progress.say(text);
  });
  await follower.ready();
  return follower;
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
