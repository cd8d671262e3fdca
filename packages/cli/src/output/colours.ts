import { styleText } from 'node:util';
import type { OutputStream } from '../command-context.ts';

export type Colour = 'cyan' | 'green' | 'yellow' | 'red' | 'dim';

/** Colors text for terminals; files, pipes and terminals with NO_COLOR get plain text. */
export function createPainter(stream: OutputStream): (colour: Colour, text: string) => string {
  const isColoured = stream.isTTY === true && stream.hasColors?.() === true;
  return (colour, text) => (isColoured ? styleText(colour, text, { validateStream: false }) : text);
}
