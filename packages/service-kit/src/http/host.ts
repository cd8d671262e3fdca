const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Returns whether a text is a name or an address, with or without a port, and nothing else (RFC 9112, 3.2). */
export function isHost(text: string): boolean {
  return HOST.test(text);
}
