import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { EventRenderer } from './event-renderer.ts';

/** Collects what nobody holds. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

it('the state of an ended call of a subgraph is not kept until the run ends, and that of one under way is', async () => {
  const sent: unknown[] = [];
  const renderer = new EventRenderer(['values'], ({ data }) => sent.push(JSON.parse(data)));
  const call = (task: string) => {
    const state = { of: task };
    renderer.render([task], 'values', state);
    renderer.render([task, 'inner:1'], 'values', { of: 'inner' });
    return new WeakRef(state);
  };
  const ended = call('agent:1');
  renderer.render([], 'values', { of: 'root' });
  call('agent:2');
  // A reference is held until the turn of the loop ends.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  expect(ended.deref()).toBeUndefined();
  renderer.render(['agent:2'], 'values', { __interrupt__: [] });
  renderer.render([], 'values', { __interrupt__: [] });
  expect(sent.slice(-2)).toMatchObject([{ of: 'agent:2' }, { of: 'root' }]);
});
