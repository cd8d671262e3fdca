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
