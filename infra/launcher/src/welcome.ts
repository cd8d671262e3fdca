import type { ReadyDeployment } from './ready-file.ts';

/** Returns the lines to paste. They must work unchanged. */
export function formatWelcome(platform: {
  url: string;
  apiKey: string;
  /** The link with which the first administrator makes an account, once; null when there is one. */
  setupUrl: string | null;
  deployment: ReadyDeployment;
  graph: string;
  dataDir: string;
  /** The line about whose rights the code of projects has. */
  projects: string;
}): string {
  const { deployment, apiKey, graph, setupUrl } = platform;
  const people =
    setupUrl === null ? `sign in at ${platform.url}/login` : `${setupUrl} makes the first administrator, once`;
  const input = `{"messages": [{"role": "user", "content": "hello"}]}`;
  return `
Runyard is ready: ${platform.url}

  deployment  ${deployment.name}: ${deployment.url}
  host        ${deployment.host_url}
  API key     ${apiKey}
  people      ${people}
  data, logs  ${platform.dataDir}
  projects    ${platform.projects}

Stream a run:

curl -N ${deployment.url}/runs/stream -H 'x-api-key: ${apiKey}' -H 'content-type: application/json' \\
  -d '{"assistant_id": "${graph}", "input": ${input}, "stream_mode": ["messages-tuple"]}'

The same with the SDK (npm install @langchain/langgraph-sdk; save as hello.mjs):

import { Client } from '@langchain/langgraph-sdk';
const client = new Client({ apiUrl: '${deployment.url}', apiKey: '${apiKey}' });
const thread = await client.threads.create();
const run = client.runs.stream(thread.thread_id, '${graph}', {
  input: ${input},
  streamMode: 'values',
});
for await (const event of run) console.log(event.event, event.data);

Ctrl-C stops everything; the data stays.
`;
}
