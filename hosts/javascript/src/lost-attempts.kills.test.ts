import { afterAll, beforeAll, describe, it } from 'vitest';
import { type Durability, expectSameWhenLost, QUESTIONS } from '../test/conversations.ts';
import { type HostUnderTest, startHost } from '../test/host-under-test.ts';

let host: HostUnderTest;
beforeAll(async () => {
  host = await startHost();
});
afterAll(() => host.close());

describe.each<Durability>(['sync', 'async', 'exit'])(
  'a run with durability %s whose worker is lost at any moment ends as if it had not been',
  (durability) => {
    it.each(QUESTIONS)('%s', async (...questions) => {
      // Only with `exit` an attempt may put the checkpoint again that another one made.
      await expectSameWhenLost(host, questions, durability, durability === 'exit');
    });
  },
);
