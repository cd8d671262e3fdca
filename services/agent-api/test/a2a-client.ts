import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { TestDeployment } from './deployment.ts';
import { ask } from './raw-http.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of the protocol are looked into at many places.
export type Json = any;

export const V1 = { 'a2a-version': '1.0' };

export const says = (text: string, more: object = {}) => ({
  message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more },
});

/** Returns the values of a graph that has answered the message of its run. */
export const answered = (claimed: { kwargs: Record<string, unknown> }, content: unknown, more: object = {}) => {
  const { messages } = claimed.kwargs.input as { messages: object[] };
  return { messages: [...messages, { type: 'ai', id: randomUUID(), content, ...more }] };
};

/** Speaks A2A with the assistant `echo` of a deployment whose worker is faked. */
export class A2aClient {
  readonly #deployment: TestDeployment;

  constructor(deployment: TestDeployment) {
    this.#deployment = deployment;
  }

  get base(): string {
    return `${this.#deployment.url}/a2a/echo`;
  }

  async rpc(method: string, params: object, headers: Record<string, string> = V1): Promise<Json> {
    const { json } = await ask(this.base, { body: { jsonrpc: '2.0', id: 7, method, params }, headers });
    expect(json).toMatchObject({ jsonrpc: '2.0', id: 7 });
    return json;
  }

  /** Sends a message whose run the fake worker answers. */
  async complete(text: string, answer: unknown = `echo: ${text}`, more: object = {}): Promise<Json> {
    const sent = this.rpc('SendMessage', says(text, more));
    const run = await this.#deployment.worker.take();
    await run.succeed(answered(run.claimed, answer));
    return (await sent).result.task;
  }

  /** Sends a message at whose end the graph asks. */
  async askBack(value: unknown = 'Really?', configuration: object = {}): Promise<Json> {
    const sent = this.rpc('SendMessage', { ...says('may I?'), configuration });
    const run = await this.#deployment.worker.take();
    await run.ask({ messages: [] }, [{ id: 'i1', value }]);
    return (await sent).result.task;
  }
}

/** Returns the data of all events of a stream. */
export function dataIn(stream: string): Json[] {
  return stream
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)));
}

export function brief({ statusUpdate, artifactUpdate }: Json): string {
  if (statusUpdate) return statusUpdate.status.state;
  const { artifact, append = false, lastChunk = false } = artifactUpdate;
  return `${artifact.parts[0].text} ${append} ${lastChunk}`;
}
