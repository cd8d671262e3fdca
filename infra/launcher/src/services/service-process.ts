import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { machineEnvironment } from '@runyard/contracts';
import { InfrastructureError, lastLines, type Supervisor } from '@runyard/local-infra';
import { PlatformClient } from '../platform-client.ts';

/** One process of the platform, with one service or several. */
export interface ProcessSettings {
  /** Names its log too. */
  name: string;
  /** The folder of its bundle, in the repository. */
  folder: string;
  /** The process has started when each of these answers. */
  services: { name: string; healthUrl: string }[];
  env: Record<string, string>;
  /** Variables that must not be in an environment. */
  secrets: Record<string, unknown>;
  /** Milliseconds that it may take to stop before it is killed. */
  stopMs: number;
}

export interface ProcessOptions extends ProcessSettings {
  supervisor: Supervisor;
  repository: string;
  logDir: string;
  /** The folder in which Node.js, from 22 on, keeps what it has compiled of a bundle. */
  compiledDir: string;
  /** Gives up a start in flight. */
  stopping?: AbortSignal;
}

export interface ServiceProcess {
  name: string;
  /** Undefined while it is not running. */
  readonly pid: number | undefined;
  /** Rejects with the end of the log when the service ends unasked. */
  unexpectedEnd: Promise<never>;
  stop(): Promise<void>;
}

/** A process ended unasked. */
export class ServiceEndedError extends InfrastructureError {
  override name = 'ServiceEndedError';
  /** The signal or exit code. */
  readonly how: string;
  readonly logFile: string;

  constructor(service: string, how: string, logFile: string, endOfLog: string) {
    super(`${service} ended (${how}); the end of ${logFile}:\n${endOfLog}`);
    this.how = how;
    this.logFile = logFile;
  }
}

/** Lines at the end of a log that explain a failed start. */
const LINES_SHOWN = 15;

/** Milliseconds that a service may take to answer: it applies its migrations first. */
const startMs = 60_000;

/** Starts a bundle and waits until all its services answer. */
export async function startProcess(options: ProcessOptions): Promise<ServiceProcess> {
  const { name } = options;
  const logFile = join(options.logDir, `${name}.log`);
  const folder = join(options.repository, options.folder);
  const program = join(folder, 'dist/main.js');
  if (!existsSync(program)) {
    throw new InfrastructureError(`${program} is missing: only a checkout has ${name} as a process of its own.`);
  }
  const running = await options.supervisor.start({
    name,
    command: process.execPath,
    args: ['--enable-source-maps', program],
    cwd: folder,
    env: {
      ...inheritedEnvironment(),
      HOST: '127.0.0.1',
      NODE_COMPILE_CACHE: options.compiledDir,
      ...options.env,
      RUNYARD_SECRETS_FD: '3',
      RUNYARD_PARENT_FD: '4',
    },
    logFile,
    // The second one is never written to: its end tells the service that the launcher has ended.
    extraPipes: 2,
  });
  // Secrets go through a pipe, because every process of the same user can read an environment.
  const secretsPipe = running.child.stdio[3] as Writable;
  secretsPipe.on('error', () => {}); // The service ended early, which is noticed below.
  secretsPipe.end(JSON.stringify(options.secrets));

  let stopping = false;
  // After the line of the service that failed come those of the others' stop.
  const lines = LINES_SHOWN * options.services.length;
  const unexpectedEnd = running.exited.then(async ({ code, signal }): Promise<never> => {
    if (stopping) return new Promise(() => {});
    throw new ServiceEndedError(name, String(signal ?? code), logFile, await lastLines(logFile, lines));
  });
  unexpectedEnd.catch(() => {}); // Whoever awaits it gets the rejection; before that it must not end the process.
  const stop = async () => {
    stopping = true;
    await running.stop(options.stopMs);
  };
  try {
    await Promise.race([
      Promise.all(options.services.map((service) => waitUntilReady(service, options, logFile))),
      unexpectedEnd,
    ]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { name, pid: running.pid, unexpectedEnd, stop };
}

async function waitUntilReady(
  { name, healthUrl }: ProcessOptions['services'][number],
  { stopping }: ProcessOptions,
  logFile: string,
): Promise<void> {
  const client = new PlatformClient(healthUrl, {});
  const deadline = Date.now() + startMs;
  while ((await client.status('')) !== 200) {
    if (stopping?.aborted) throw new InfrastructureError(`${name} is not waited for: everything is being stopped.`);
    if (Date.now() > deadline) {
      const end = await lastLines(logFile, LINES_SHOWN);
      throw new InfrastructureError(
        `${name} did not answer within ${startMs / 1000} s; the end of ${logFile}:\n${end}`,
      );
    }
    await pause(25);
  }
}

/**
 * Returns what a service sees of the caller's environment: the machine's variables and how to log, and nothing that
 * configures it by accident.
 */
function inheritedEnvironment(): NodeJS.ProcessEnv {
  const { LOG_LEVEL, LOG_JSON } = process.env;
  return { ...machineEnvironment(process.env), LOG_LEVEL, LOG_JSON };
}
