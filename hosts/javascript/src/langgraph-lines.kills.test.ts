import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectSameWhenLost, QUESTIONS } from '../test/conversations.ts';
import type { HostUnderTest } from '../test/host-under-test.ts';
import { LINES, startLine } from '../test/line-project.ts';

describe.each(LINES)('with LangGraph %s', (version) => {
  let host: HostUnderTest;
  beforeAll(async () => {
    host = await startLine(version);
  });
  afterAll(() => host.close());

  describe('a run whose worker is lost at any moment ends as if it had not been', () => {
    // The line with the answers of its own is tried everywhere, the others where they differ from it.
    const tried =
      version === LINES[0] ? QUESTIONS : QUESTIONS.filter(([what]) => /one by one|one node|by id/.test(what));
    it.each(tried)('%s', async (...questions) => {
      await expectSameWhenLost(host, questions, 'async');
    });
  });
});
