import type { DescribedGraph } from './describe-graphs.ts';
import { formatGraphs } from './format-graphs.ts';
import type { ReadyDeployment } from './ready-file.ts';

/** Columns before what a line says. */
const INDENT = 14;

/** Returns the lines to paste. They must work unchanged. */
export function formatWelcome(platform: {
  url: string;
  apiKey: string;
  /** True when the agent server at the root takes no request without a key. */
  needsKey: boolean;
  consoleUrl: string;
  /** The link that signs one browser in as an administrator, once. */
  consoleSignInUrl: string;
  /** True where Enter prints another such link. */
  printsMoreLinks: boolean;
  /** The link with which the first administrator makes an account, once; null when there is one. */
  setupUrl: string | null;
  deployment: ReadyDeployment;
  /** Names of the project's graphs. */
  graphs: readonly [string, ...string[]];
  /** The first of them, with what is known of them. */
  described: readonly DescribedGraph[];
  /** The width of the terminal; undefined where nothing has to be cut. */
  columns: number | undefined;
  dataDir: string;
  /** The line about whose rights the code of projects has. */
  projects: string;
}): string {
  const { url, deployment, apiKey, needsKey, graphs, described, setupUrl } = platform;
  const space = { unnamed: graphs.length - described.length, columns: (platform.columns ?? Infinity) - INDENT };
  const people =
    setupUrl === null ? `sign in at ${url}/login` : `${setupUrl} makes the account of the first administrator, once`;
  const input = `{"messages": [{"role": "user", "content": "hello"}]}`;
  const header = needsKey ? ` -H 'x-api-key: ${apiKey}'` : '';
  return `
Runyard is ready: ${url}

  agent       ${url}: ${deployment.name}, ${needsKey ? 'with the key' : 'without a key for programs and pages of this machine'}
  graphs      ${formatGraphs(described, space).join(`\n${' '.repeat(INDENT)}`)}
  docs        ${url}/docs
  console     ${platform.consoleUrl}
  sign in     ${platform.consoleSignInUrl}  (once${platform.printsMoreLinks ? '; Enter prints another' : ''})
  with a key  ${deployment.url}
  host        ${deployment.host_url}
  API key     ${apiKey}
  people      ${people}
  data, logs  ${platform.dataDir}
  projects    ${platform.projects}

Stream a run:

curl -N ${url}/runs/stream${header} -H 'content-type: application/json' \\
  -d '{"assistant_id": "${graphs[0]}", "input": ${input}, "stream_mode": ["messages-tuple"]}'

Ctrl-C stops everything; the data stays.
`;
}
