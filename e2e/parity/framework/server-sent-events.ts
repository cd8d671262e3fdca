/** An event as it is on the wire. */
export interface WireEvent {
  event: string;
  id?: string;
  // biome-ignore lint/suspicious/noExplicitAny: cases look into events of every shape.
  data: any;
}

/** Returns the events of a whole stream, without comments. */
export function parseEvents(text: string): WireEvent[] {
  return text
    .split(/\r?\n\r?\n/)
    .map((block) => block.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith(':')))
    .filter((lines) => lines.length > 0)
    .map((lines) => {
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const id = field('id');
      return {
        event: field('event') ?? 'message',
        ...(id !== undefined && { id }),
        data: JSON.parse(field('data') ?? 'null'),
      };
    });
}

/** Reads an open stream until an event satisfies the condition; returns all events up to it. */
export async function readUntil(response: Response, isLast: (event: WireEvent) => boolean): Promise<WireEvent[]> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body!) {
    text += decoder.decode(chunk, { stream: true });
    const events = parseEvents(text.slice(0, text.lastIndexOf('\r\n\r\n') + 4));
    if (events.some(isLast)) return events;
  }
  throw new Error(`the stream ended before the awaited event: ${text}`);
}
