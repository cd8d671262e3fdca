import { isDeepStrictEqual } from 'node:util';
import type { AgUiInput } from '@runyard/contracts';
import { messagesIn } from '../../a2a/tasks/state-messages.ts';
import { type Fields, isFields } from '../../http/fields.ts';
import { NOT_SHARED } from '../events/shared-state.ts';
import { idOf } from '../events/shown-messages.ts';
import { toStateMessages } from './state-messages.ts';

/** The graph that an input is for. */
export interface InputTarget {
  /** The values of the thread; undefined while it has none. */
  values: unknown;
  /** The keys of the graph's input; undefined when they are not known. */
  keys: ReadonlySet<string> | undefined;
}

export interface GraphInput {
  input: Fields;
  /** True when it has a message, or a change of the state, that the thread has not. */
  hasNews: boolean;
}

/**
 * Returns the input of a graph: the messages that the thread has not, the state that the client has changed, and the
 * tools and context of the client where the graph takes them. Clients send all they know each time: what the thread has
 * already would count twice where the graph adds to its state. @throws UnprocessableError
 */
export function toGraphInput(sent: AgUiInput, { values, keys }: InputTarget): GraphInput {
  const takes = (key: string) => keys === undefined || keys.has(key);
  const messages = newMessages(sent, values);
  const state = Object.entries(isFields(sent.state) ? sent.state : {}).filter(
    ([key]) => !NOT_SHARED.has(key) && takes(key),
  );
  const known = isFields(values) ? values : {};
  const changed = state.filter(([key, value]) => !isDeepStrictEqual(value, known[key]));
  const hasNews = messages.length > 0 || changed.length > 0;
  return {
    input: {
      // A graph that takes no messages has to begin with something.
      ...Object.fromEntries(changed.length > 0 || takes('messages') ? changed : state),
      ...(takes('messages') && { messages }),
      ...clientFields(sent, keys),
    },
    hasNews,
  };
}

/** Returns what the client offers beside the conversation, for graphs that look for it in their configuration. */
export function toConfigurable({ tools, context, forwardedProps }: AgUiInput): { 'ag-ui'?: Fields } {
  const forwarded: Fields = isFields(forwardedProps) ? forwardedProps : {};
  const { command: _command, config: _config, emitRawEvents: _raw, ...props } = forwarded;
  const offered = {
    ...(tools && tools.length > 0 && { tools: toFunctions(tools) }),
    ...(context && context.length > 0 && { context }),
    ...(Object.keys(props).length > 0 && { forwardedProps: props }),
  };
  return Object.keys(offered).length > 0 ? { 'ag-ui': offered } : {};
}

function newMessages({ messages }: AgUiInput, values: unknown): Fields[] {
  const known = new Set((messagesIn(values) ?? []).map(idOf));
  return toStateMessages(messages).filter((message) => !known.has(idOf(message)));
}

/** The keys under which graphs find the client's tools and context: those of other servers of AG-UI, where they are taken. */
function clientFields({ tools, context }: AgUiInput, keys: InputTarget['keys']): Fields {
  const functions = toFunctions(tools ?? []);
  const fields: Fields = {
    tools: functions,
    'ag-ui': { tools: functions, context: context ?? [] },
    copilotkit: { actions: functions, context: context ?? [] },
  };
  return Object.fromEntries(Object.entries(fields).filter(([key]) => keys?.has(key)));
}

/** Returns tools in the form in which models take them. */
function toFunctions(tools: NonNullable<AgUiInput['tools']>): Fields[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    function: { name, description: description ?? '', parameters: parameters ?? { type: 'object', properties: {} } },
  }));
}
