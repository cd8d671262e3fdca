import { Client } from '@langchain/langgraph-sdk';
import { Agent, fetch as undiciFetch } from 'undici';
import { inject } from 'vitest';

/** Creates the official SDK for the deployment under test. */
export function newClient(overrides: { apiUrl?: string; apiKey?: string; fetch?: typeof fetch } = {}): Client {
  const platform = inject('platform');
  return new Client({
    apiUrl: overrides.apiUrl ?? platform.deploymentUrl,
    apiKey: overrides.apiKey ?? platform.apiKey,
    // Some tests look at failed requests, so the client must not retry.
    callerOptions: { maxRetries: 0, ...(overrides.fetch && { fetch: overrides.fetch }) },
  });
}

/** Resolves names below `localhost`, which Node leaves to the system's resolver. */
const localNames = new Agent({
  connect: { lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]) },
});

/** Wraps `fetch` for the hosts of deployments on this machine. */
export const fetchAtHost = ((input: string | URL, init?: object) =>
  undiciFetch(input, { ...init, dispatcher: localNames })) as unknown as typeof fetch;

export interface SdkEvent {
  id?: string;
  event: string;
  data: unknown;
}

/** Returns all events of a stream, in order. */
export async function collectEvents(stream: AsyncIterable<unknown>): Promise<SdkEvent[]> {
  const events: SdkEvent[] = [];
  for await (const event of stream) events.push(event as SdkEvent);
  return events;
}

/** Reads a stream until an event satisfies the condition, and returns that event. */
export async function readUntil(
  stream: AsyncIterable<unknown>,
  condition: (event: SdkEvent) => boolean,
): Promise<SdkEvent> {
  for await (const event of stream) if (condition(event as SdkEvent)) return event as SdkEvent;
  throw new Error('the stream ended before the awaited event');
}
