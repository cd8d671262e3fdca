import type { ReadyDeployment } from './ready-file.ts';

/** Returns the lines to paste. They must work unchanged. */
export function formatWelcome(platform: {
  url: string;
  apiKey: string;
  deployment: ReadyDeployment;
  graph: string;
  dataDir: string;
  /** The line about whose rights the code of projects has. */
  projects: string;
}): string {
  const { deployment, apiKey, graph } = platform;
  const input = `{"messages": [{"role": "user", "content": "hello"}]}`;
  return `
Runyard is ready: ${platform.url}

  deployment  ${deployment.name}: ${deployment.url}
  host        ${deployment.host_url}
  API key     ${apiKey}
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
