import { expect, it } from 'vitest';
import { GivenAnswers } from './given-answers.ts';

function giveTwice() {
  const given = new GivenAnswers('task 1');
  const [first, second] = [given.next('Really?'), given.next('Really?')];
  given.markTaken('Really?', first);
  return { given, first, second };
}

it('the answer that a server took first counts, or one that was sent before it', () => {
  const { given, first, second } = giveTwice();
  expect(given.faultOf(['Really?'], [['Really?', first]])).toBeUndefined();
  expect(given.faultOf(['Really?'], [['Really?', second]])).toContain('although 0 was taken');
  expect(given.tries).toBe(2);
});

it('an answer that is missing, that counts twice, or that nobody sent is a fault', () => {
  const { given, first } = giveTwice();
  expect(given.faultOf(['Really?'], [])).toContain('not Really?');
  expect(
    given.faultOf(
      ['Really?'],
      [1, 2].map(() => ['Really?', first]),
    ),
  ).toContain('not Really?');
  expect(given.faultOf(['Really?'], [['Really?', 'else']])).toContain('never sent');
});
