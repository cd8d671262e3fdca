/** One server-sent event as clients of the agent server expect it: CRLF, fields in the order event, data, id. */
export interface SseEvent {
  event: string;
  /** One line of JSON. */
  data: string;
  /** Left out when the stream cannot be resumed from the event. */
  id?: string | undefined;
}

/** Tells proxies and clients that an event stream must be neither cached nor buffered until it is complete. */
export const SSE_HEADERS = {
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  'content-type': 'text/event-stream; charset=utf-8',
};

export const SSE_HEARTBEAT = ': heartbeat\r\n\r\n';

export function formatSseEvent({ event, data, id }: SseEvent): string {
  const head = `event: ${oneLine(event)}\r\ndata: ${data}\r\n`;
  return id === undefined ? `${head}\r\n` : `${head}id: ${oneLine(id)}\r\n\r\n`;
}

const LINE_BREAK = /[\r\n]/;

/** Removes line breaks: a name with one would end its field early and let the rest pass for fields of its own. */
function oneLine(text: string): string {
  return LINE_BREAK.test(text) ? text.replace(/[\r\n]/g, '') : text;
}
