import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { InfrastructureError, reasonOf } from '@runyard/local-infra';

export interface LauncherFlags {
  /** The folder of the project to deploy, which contains a `langgraph.json`. */
  project: string;
  /** The port of the gateway; 0 takes a free one. */
  port: number;
  dataDir: string;
  /** True when a broker has to be there. Otherwise one is used where the environment names it, and none started. */
  kafka: boolean;
  help: boolean;
}

export const usage = `npm start -- [--project DIR] [--port N] [--data-dir DIR] [--kafka]

  --project DIR    the LangGraph project to deploy (default: examples/hello-agent)
  --port N         where the platform listens on this machine; 0 takes a free port (default: 2024)
  --data-dir DIR   where everything is kept between starts (default: .runyard)
  --kafka          carries events over Kafka, which needs Java 17 and Maven, instead of Redis Streams
`;

/** Reads the flags. Paths are relative to where the command was typed, which npm passes on. */
export function readFlags(args: string[], repository: string): LauncherFlags {
  const typedIn = process.env.INIT_CWD ?? process.cwd();
  const values = parse(args);
  const port = Number(values.port ?? 2024);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new InfrastructureError(`--port ${values.port} is not a port: give a number from 0 to 65535.`);
  }
  return {
    project: values.project ? resolve(typedIn, values.project) : resolve(repository, 'examples/hello-agent'),
    port,
    dataDir: values['data-dir'] ? resolve(typedIn, values['data-dir']) : resolve(repository, '.runyard'),
    kafka: values.kafka ?? false,
    help: values.help ?? false,
  };
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
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new InfrastructureError(`${reasonOf(error)}\n\n${usage}`);
  }
}
