import { expect, it } from 'vitest';
import { Turns } from './turns.mjs';

it('shows what one program prints as it comes, and what others printed meanwhile once it is over', () => {
  const shown: string[] = [];
  const turns = new Turns((text: string) => shown.push(text));
  const [first, second] = [turns.take(), turns.take()];
  second.write('second one');
  first.write('first one');
  expect(shown).toEqual(['first one']);
  second.end();
  const third = turns.take();
  third.write('third one');
  first.end();
  third.write('third two');
  expect(shown).toEqual(['first one', 'second one', 'third one', 'third two']);
});
