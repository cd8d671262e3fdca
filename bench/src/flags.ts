import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { WORKLOADS, type WorkloadName } from './load/workloads.ts';
import { readNumber, readNumbers } from './number-flags.ts';
import { LANGUAGES, type Language } from './targets/projects.ts';

export interface BenchFlags {
  /** The URL of a running deployment, instead of a platform started for the measurement. */
  url?: string | undefined;
  key?: string | undefined;
  /** Numbers of concurrent clients. */
  clients: number[];
  /** Seconds of each measurement, after its warm-up. */
  seconds: number;
  /** Repetitions of every measurement; targets take turns, so that a busy moment of the machine hits all of them. */
  rounds: number;
  workloads: WorkloadName[];
  /** True when agent-api is also measured without the gateway. */
  isDirectWanted: boolean;
  /** True when agent-api is also measured with an auth handler of the project. */
  areUsersWanted: boolean;
  /** The language of the project. In Python it is also measured on the public Python server. */
  language: Language;
  /** An earlier commit, whose platform is measured on the same project. */
  against?: string | undefined;
  /** The folder in whose `node_modules` the public in-memory server is, to be measured on the same project. */
  compare?: string | undefined;
  /** The file for the numbers as JSON; `-` for standard output, in place of the tables. */
  json?: string | undefined;
  help: boolean;
}

export const usage = `npm run bench -- [options]

  --url URL --key KEY   measure this deployment (https://…/deployments/{id}) instead of starting a platform;
                        it must serve a graph named "echo" such as bench/echo-project
  --language python     measure graphs in Python, and the public Python server (langgraph dev) beside the platform
  --clients 1,8,32      clients at once
  --seconds N           of each measurement (default 5)
  --rounds N            how often everything is measured, the targets taking turns (default 1)
  --workloads A,B       ${Object.keys(WORKLOADS).join(', ')} (default: all)
  --no-direct           do not measure agent-api without the gateway
  --users               also measure agent-api with an auth handler of the project (both with encryption at rest)
  --compare DIR         also measure @langchain/langgraph-api from DIR/node_modules on the same project
  --json FILE           write the numbers as JSON; - prints them instead of the tables

npm run bench -- against COMMIT [options]
  measure the platform of another commit beside this one (default 5 rounds of 3 seconds, 1 and 32 clients, --no-direct)

npm run bench -- host [--rounds N] [--json FILE]
  what the process is capable of that runs graphs in Python: its start, its memory, its events, and nodes that block

npm run bench -- scale [--threads N] [--json FILE]
  what searching, counting, state and history take with N threads (default 1000000)

npm run bench -- push [--mb N] [--clients N] [--rate N] [--seconds N] [--rounds N] [--json FILE]
  how long requests to control-plane take while each client pushes a layer of N MB (default 1 of 1024),
  of which it sends N a second at most, and before

npm run bench -- idle [--seconds N] [--settle N] [--json FILE]
  what a deployment costs that nobody uses: processor time, transactions and Redis commands (default 60 seconds)

npm run bench -- start [--rounds N] [--settle N] [--json FILE]
  how long the platform takes to start, and its memory once it has come to rest

npm run bench -- directory [--members N] [--groups N] [--json FILE]
  what syncing people and groups by SCIM takes (default 10000 and 1000)

npm run bench -- states [--mb A,B] [--rounds N] [--json FILE]
  what writing and reading states of so many megabytes takes (default 1,10,40)
`;

/** @throws Error with a sentence for the person at the keyboard */
export function readFlags(args: string[]): BenchFlags {
  const isAgainst = args[0] === 'against';
  if (isAgainst && (args[1] === undefined || args[1].startsWith('-')))
    throw new Error('Name the commit to measure against: npm run bench -- against COMMIT.');
  const against = isAgainst ? args[1] : undefined;
  const { values } = parseArgs({
    args: isAgainst ? args.slice(2) : args,
    options: {
      url: { type: 'string' },
      key: { type: 'string' },
      clients: { type: 'string', default: isAgainst ? '1,32' : '1,8,32' },
      seconds: { type: 'string', default: isAgainst ? '3' : '5' },
      rounds: { type: 'string', default: isAgainst ? '5' : '1' },
      workloads: { type: 'string' },
      'no-direct': { type: 'boolean', default: false },
      users: { type: 'boolean', default: false },
      language: { type: 'string', default: 'javascript' },
      compare: { type: 'string' },
      json: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const language = LANGUAGES.find((each) => each === values.language);
  if (language === undefined) throw new Error(`--language is ${LANGUAGES.join(' or ')}, not "${values.language}".`);
  if (language === 'python' && (values.users || values.compare !== undefined)) {
    throw new Error('--users and --compare are for graphs in JavaScript.');
  }
  const here = process.env.INIT_CWD ?? process.cwd();
  return {
    url: values.url?.replace(/\/+$/, ''),
    key: values.key,
    clients: readNumbers('clients', values.clients),
    seconds: readNumber('seconds', values.seconds),
    rounds: readNumber('rounds', values.rounds),
    workloads: values.workloads?.split(',').map(findWorkload) ?? (Object.keys(WORKLOADS) as WorkloadName[]),
    isDirectWanted: !values['no-direct'] && values.url === undefined && !isAgainst,
    areUsersWanted: values.users,
    language,
    against,
    compare: values.compare && resolve(here, values.compare),
    json: values.json && (values.json === '-' ? '-' : resolve(here, values.json)),
    help: values.help,
  };
}

function findWorkload(name: string): WorkloadName {
  if (Object.hasOwn(WORKLOADS, name)) return name as WorkloadName;
  throw new Error(`There is no workload "${name}", only ${Object.keys(WORKLOADS).join(', ')}.`);
}
