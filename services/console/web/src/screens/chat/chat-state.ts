import { addPiece, type Message, type MessageInPieces, messagesOf } from '../../components/messages-content.ts';

/** The part of a thread and of its run in flight that a chat shows. */
export interface ChatState {
  /** The newest values of the thread. */
  values: unknown;
  /** Messages in the values; undefined where the graph has none. */
  messages: readonly Message[] | undefined;
  /** Messages that are being written, and are in no values yet. */
  pieces: ReadonlyMap<string, MessageInPieces>;
  /** The error with which the run ended. */
  error: string | undefined;
}

/** An event of a run's stream. */
export interface RunEvent {
  event: string;
  data: unknown;
}

export const EMPTY_CHAT: ChatState = { values: null, messages: undefined, pieces: new Map(), error: undefined };

/** Returns the state with other values of the thread, as a checkpoint has them. */
export function withValues(state: ChatState, values: unknown): ChatState {
  return { ...state, values, messages: reused(state.messages, messagesOf(values)), pieces: new Map() };
}

/** The same for values that may be older than what is being written, which then stays. */
export function withEarlierValues(state: ChatState, values: unknown): ChatState {
  const next = withValues(state, values);
  const known = new Set(next.messages?.map(({ id }) => id));
  return { ...next, pieces: new Map([...state.pieces].filter(([id]) => !known.has(id))) };
}

/** Returns the state after an event of a run. Values are those of the whole graph only, tokens also of subgraphs. */
export function afterEvent(state: ChatState, { event, data }: RunEvent): ChatState {
  const [mode, namespace] = event.split('|', 2);
  if (mode === 'values' && namespace === undefined) return withValues(state, withoutInterrupt(data));
  if (mode === 'messages' && Array.isArray(data)) return withPiece(state, data[0]);
  if (mode === 'error') return { ...state, error: errorText(data) };
  return state;
}

/** Returns all messages, those being written last. */
export function shownMessages({ messages = [], pieces }: ChatState): readonly Message[] {
  return pieces.size === 0 ? messages : [...messages, ...[...pieces.values()].map(({ message }) => message)];
}

function withPiece(state: ChatState, piece: unknown): ChatState {
  if (typeof piece !== 'object' || piece === null) return state;
  const { id, type } = piece as { id?: unknown; type?: unknown };
  if (typeof id !== 'string') return state;
  // A message that is whole already comes again when a stream is read from its start.
  if (state.messages?.some((message) => message.id === id)) return state;
  const pieces = new Map(state.pieces);
  const isPiece = typeof type === 'string' && type.endsWith('Chunk');
  pieces.set(id, addPiece(isPiece ? pieces.get(id) : undefined, piece as Record<string, unknown>));
  return { ...state, pieces };
}

/** Keeps the objects of messages that have not changed, so that they need not be drawn again. */
function reused(
  before: readonly Message[] | undefined,
  after: readonly Message[] | undefined,
): readonly Message[] | undefined {
  if (!before || !after) return after;
  return after.map((message, index) => {
    const former = before[index];
    return former && JSON.stringify(former) === JSON.stringify(message) ? former : message;
  });
}

function withoutInterrupt(values: unknown): unknown {
  if (typeof values !== 'object' || values === null || !('__interrupt__' in values)) return values;
  const { __interrupt__: _, ...others } = values;
  return others;
}

/** Returns an error of a run in words: `{error, message}` in streams and threads. */
export function errorText(data: unknown): string {
  const { error, message } = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>;
  const parts = [error, message].filter((part): part is string => typeof part === 'string' && part !== '');
  return parts.length > 0 ? parts.join(': ') : 'The run has failed';
}
