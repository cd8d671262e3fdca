import { expect } from 'vitest';
import { statusCase } from '../framework/index.ts';

export const cases = [
  statusCase({
    operation: 'getInfo',
    status: 200,
    promise: 'tells the level of the API and what the server can do',
    run: async ({ call }) => {
      const answer = await call('getInfo');
      expect(answer.body.version).toMatch(/^0\.\d+\.\d+/);
      expect(answer.body.flags.assistants).toBe(true);
      return answer;
    },
  }),
];
