import type { HandlerRequest } from '@runyard/service-kit';
import type { McpClient } from './protocol/client.ts';
import type { RequestId } from './protocol/frame.ts';

/** The reason why the route of MCP asks nothing itself. */
export const METHODS_ASK = 'The methods of MCP ask about the assistants, threads and runs that a call is about.';

/** A request of a client. */
export interface McpCall {
  id: RequestId;
  client: McpClient;
  request: Pick<HandlerRequest, 'caller' | 'headers' | 'raw' | 'res' | 'signal'>;
}

/** A request whose answer takes as long as a run, without its body: the project is asked again about its caller. */
export type Follower = Pick<McpCall['request'], 'caller' | 'raw' | 'res'>;

export function followerOf({ caller, raw, res }: McpCall['request']): Follower {
  return { caller, raw, res };
}

/** The other end of an answer that takes as long as a run. */
export interface Peer {
  /** Aborts when the client has left. */
  closed: AbortSignal;
  /** True when messages can be sent before the result. */
  isStream: boolean;
  /** Sends a message of JSON-RPC; resolves when the client keeps up. */
  send(message: object): Promise<void>;
}

/** The outcome of a method. */
export type Outcome =
  | { kind: 'value'; value: object; headers?: Record<string, string> }
  | {
      kind: 'later';
      /** True when messages are to come before the result, if the client takes events. */
      wantsStream: boolean;
      /** Resolves with the result; undefined when the client has left before. */
      value(peer: Peer): Promise<object | undefined>;
      /** Called when the client left before the answer was complete. */
      onAbandoned?: (() => Promise<void>) | undefined;
    };

export function value(result: object, headers?: Record<string, string>): Outcome {
  return { kind: 'value', value: result, ...(headers && { headers }) };
}
