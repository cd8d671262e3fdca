import { styleText } from 'node:util';
import type { OutputStream } from '../surroundings.ts';

export type Colour = 'cyan' | 'green' | 'yellow' | 'red' | 'dim';

/** Colours text for a terminal that shows them; files, pipes and terminals with NO_COLOR get it as it is. */
export function painter(stream: OutputStream): (colour: Colour, text: string) => string {
  const isColoured = stream.isTTY === true && stream.hasColors?.() === true;
  return (colour, text) => (isColoured ? styleText(colour, text, { validateStream: false }) : text);
}
