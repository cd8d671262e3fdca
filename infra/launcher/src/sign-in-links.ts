import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/**
 * Prints a new link to the console each time somebody presses Enter, as each works once. One that cannot be made says so,
 * and the next Enter tries again.
 *
 * @param create makes a link
 */
export function printLinksOnEnter(
  input: Readable,
  { create, say }: { create: () => Promise<string>; say: (line: string) => void },
): { close(): void } {
  const lines = createInterface({ input });
  lines.on('line', () => {
    create().then(
      (link) => say(`Sign in, once: ${link}`),
      (error: Error) => say(`There is no link at the moment: ${error.message}`),
    );
  });
  return { close: () => lines.close() };
}
