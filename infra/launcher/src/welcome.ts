import type { ReadyDeployment } from './ready-file.ts';

/** Returns the lines to paste. They must work unchanged. */
export function formatWelcome(platform: {
  url: string;
  apiKey: string;
  /** True when the agent server at the root takes no request without a key. */
  needsKey: boolean;
  /** The link with which the first administrator makes an account, once; null when there is one. */
  setupUrl: string | null;
  deployment: ReadyDeployment;
  graph: string;
  dataDir: string;
  /** The line about whose rights the code of projects has. */
  projects: string;
}): string {
  const { url, deployment, apiKey, needsKey, graph, setupUrl } = platform;
  const people = setupUrl === null ? `sign in at ${url}/login` : `${setupUrl} makes the first administrator, once`;
  const input = `{"messages": [{"role": "user", "content": "hello"}]}`;
  const header = needsKey ? ` -H 'x-api-key: ${apiKey}'` : '';
  return `
Runyard is ready: ${url}

  agent       ${url}: ${deployment.name}, ${needsKey ? 'with the key' : 'without a key for programs and pages of this machine'}
  with a key  ${deployment.url}
  host        ${deployment.host_url}
  API key     ${apiKey}
  people      ${people}
  data, logs  ${platform.dataDir}
  projects    ${platform.projects}

Stream a run:

curl -N ${url}/runs/stream${header} -H 'content-type: application/json' \\
  -d '{"assistant_id": "${graph}", "input": ${input}, "stream_mode": ["messages-tuple"]}'

The same with the SDK (npm install @langchain/langgraph-sdk; save as hello.mjs):

import { Client } from '@langchain/langgraph-sdk';
const client = new Client({ apiUrl: '${url}'${needsKey ? `, apiKey: '${apiKey}'` : ''} });
const thread = await client.threads.create();
const run = client.runs.stream(thread.thread_id, '${graph}', {
  input: ${input},
  streamMode: 'values',
});
for await (const event of run) console.log(event.event, event.data);

Ctrl-C stops everything; the data stays.
`;
}
