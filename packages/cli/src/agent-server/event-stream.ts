import { createParser } from 'eventsource-parser';
import { CliError } from '../cli-error.ts';

/** Characters of one event. A server that sends more would fill the memory of this machine. */
const EVENT_MAX = 128 * 1_024 * 1_024;

export interface ServerSentEvent {
  event: string;
  /** Left out when the stream cannot be resumed after the event. */
  id?: string;
  data: string;
}

/** Reads server-sent events, each as soon as it is complete. @throws CliError for one that is too long */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>, what: string): AsyncGenerator<ServerSentEvent> {
  const complete: ServerSentEvent[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: EVENT_MAX,
    onEvent: ({ event = 'message', id, data }) => complete.push({ event, ...(id !== undefined && { id }), data }),
    onError: ({ type }) => {
      isTooLong ||= type === 'max-buffer-size-exceeded';
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (isTooLong) throw new CliError(`${what} sent an event of more than ${EVENT_MAX} characters.`);
    yield* complete.splice(0);
  }
}
