import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/** A question to the user, as the server puts it. */
export interface Question {
  message: string;
  requestedSchema: { properties: Record<string, object> };
}

/** The user's answer. */
export interface Answer {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, string>;
}

interface ToolResult {
  content: { type: string; text?: string }[];
  structuredContent?: unknown;
  isError?: boolean;
}

export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

/** The part that the official clients of both generations have in common. */
export interface McpClient {
  listTools(): Promise<{ name: string; description?: string; inputSchema: object; outputSchema?: object }[]>;
  callTool(
    name: string,
    args: Record<string, unknown>,
    options?: { signal?: AbortSignal; onprogress?: (progress: Progress) => void },
  ): Promise<ToolResult>;
  /** Returns the version of the protocol that was agreed on. */
  version(): string | undefined;
  close(): Promise<void>;
}

/** Connects to the server of a deployment. With `answer` the client can ask its user. */
export type Connect = (
  url: string,
  headers: Record<string, string>,
  answer?: (question: Question) => Answer,
) => Promise<McpClient>;

const INFO = { name: 'tests', version: '1.0.0' };
const capabilitiesOf = (answer: unknown) => ({ capabilities: answer ? { elicitation: { form: {} } } : {} });

/** Connects the client of the generation that ends with 2025-11-25. */
const connectOld: Connect = async (url, headers, answer) => {
  const client = new OldClient(INFO, capabilitiesOf(answer));
  if (answer) client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params as Question) as never);
  const transport = new OldTransport(new URL(`${url}/mcp`), { requestInit: { headers } });
  await client.connect(transport as never);
  return {
    listTools: async () => (await client.listTools()).tools as never,
    callTool: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options) as never,
    version: () => transport.protocolVersion,
    close: () => client.close(),
  };
};

/** Connects the client that speaks both revisions, which is told how to choose. */
function connectNew(mode: 'auto' | 'legacy'): Connect {
  return async (url, headers, answer) => {
    const client = new Client(INFO, { ...capabilitiesOf(answer), versionNegotiation: { mode } });
    if (answer)
      client.setRequestHandler('elicitation/create', ({ params }) => answer(params as never as Question) as never);
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
    return {
      listTools: async () => (await client.listTools()).tools as never,
      callTool: (name, args, options) => client.callTool({ name, arguments: args }, options) as never,
      version: () => client.getNegotiatedProtocolVersion(),
      close: () => client.close(),
    };
  };
}

/** The official clients, each with the revision that it agrees on. */
export const CLIENTS: [name: string, revision: string, connect: Connect][] = [
  ['of the old generation', '2025-11-25', connectOld],
  ['of the new generation, which asks for the old revision', '2025-11-25', connectNew('legacy')],
  ['of the new generation', '2026-07-28', connectNew('auto')],
];
