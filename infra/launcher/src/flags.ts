import { isIPv4 } from 'node:net';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { InfrastructureError, reasonOf } from '@runyard/local-infra';
import type { ReloadMode } from './services/service-settings.ts';

export interface LauncherFlags {
  /** The folder of the project to deploy, which contains a `langgraph.json`. */
  project: string;
  /** The port of the gateway; 0 takes a free one. */
  port: number;
  dataDir: string;
  /** True when a broker has to be there. Otherwise one is used where the environment names it, and none started. */
  kafka: boolean;
  /** The name or address that the platform listens on. */
  host: string;
  /** True when the agent server at the root needs a key, as everything else does. */
  needsKey: boolean;
  /** Origins whose pages may call it without a key, besides local ones. */
  origins: string[];
  /** True when an edit of the project becomes a revision at once. */
  reloads: boolean;
  reload: ReloadMode;
  /** `quiet`: nothing of what deployments do is printed; `all`: also what their servers log. */
  prints: 'quiet' | 'runs' | 'all';
  help: boolean;
}

export const usage = `npm start -- [--project DIR] [--port N] [--data-dir DIR] [--kafka] [--host HOST] [--auth]
             [--origin URL]… [--reload drain|resume] [--no-reload]
             [--verbose] [--quiet]

  --project DIR    the LangGraph project to deploy (default: examples/hello-agent)
  --port N         where the platform listens on this machine; 0 takes a free port (default: 2024)
  --data-dir DIR   where everything is kept between starts (default: .runyard)
  --kafka          carries events over Kafka, which needs Java 17 and Maven, instead of Redis Streams
  --host HOST      what the platform listens on (default: 127.0.0.1); other machines that reach it need a key,
                   and this one does then, too
  --auth           the agent server at the root needs a key, also for this machine
  --origin URL     pages of this origin may call it without a key, as local ones and LangGraph Studio may; repeatable
  --reload MODE    what runs in flight do when an edit replaces their code: drain, they end on the old one within three
                   minutes and else go on with the new one (default); resume, they go on with the new one at once
  --no-reload      edits of the project take effect at the next start
  --verbose        prints what the servers of the project log, besides its runs and what its code prints
  --quiet          prints neither
`;

/** A scheme and a host, as browsers send it; also of an extension. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/,\s*]+$/;

/** Reads the flags. Paths are relative to where the command was typed, which npm passes on. */
export function readFlags(args: string[], repository: string): LauncherFlags {
  const typedIn = process.env.INIT_CWD ?? process.cwd();
  const values = parse(args);
  const port = Number(values.port ?? 2024);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new InfrastructureError(`--port ${values.port} is not a port: give a number from 0 to 65535.`);
  }
  const host = values.host || '127.0.0.1';
  const origins = (values.origin ?? []).map((origin) => origin.toLowerCase().replace(/\/$/, ''));
  const unusable = origins.find((origin) => !ORIGIN.test(origin));
  if (unusable !== undefined) {
    throw new InfrastructureError(`--origin ${unusable} is not an origin: give one like https://app.example.com.`);
  }
  return {
    host,
    needsKey: values.auth === true || !isLoopback(host),
    origins,
    project: values.project ? resolve(typedIn, values.project) : resolve(repository, 'examples/hello-agent'),
    port,
    dataDir: values['data-dir'] ? resolve(typedIn, values['data-dir']) : resolve(repository, '.runyard'),
    kafka: values.kafka ?? false,
    reloads: !values['no-reload'],
    reload: readReload(values.reload),
    prints: values.quiet ? 'quiet' : values.verbose ? 'all' : 'runs',
    help: values.help ?? false,
  };
}

function readReload(mode = 'drain'): ReloadMode {
  if (mode === 'drain' || mode === 'resume') return mode;
  throw new InfrastructureError(`--reload ${mode} is not a way to reload: give drain or resume.`);
}

/** Returns whether nobody but this machine can reach what listens there. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        project: { type: 'string' },
        port: { type: 'string' },
        'data-dir': { type: 'string' },
        kafka: { type: 'boolean' },
        host: { type: 'string' },
        auth: { type: 'boolean' },
        origin: { type: 'string', multiple: true },
        reload: { type: 'string' },
        'no-reload': { type: 'boolean' },
        quiet: { type: 'boolean' },
        verbose: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new InfrastructureError(`${reasonOf(error)}\n\n${usage}`);
  }
}
