import { expect, it } from 'vitest';
import { type BoundOperation, type HandlerRequest, ok } from '../index.ts';
import { type Middleware, withMiddleware } from './middleware.ts';

it('a request passes the middleware in the order of its list and comes to the handler last', async () => {
  const passed: string[] = [];
  const passing =
    (name: string): Middleware =>
    ({ operation, handler }) => ({
      operation,
      handler: async (request) => {
        passed.push(name);
        return handler(request);
      },
    });
  const bound = { operation: {} as BoundOperation['operation'], handler: async () => ok('the answer') };
  const [wrapped] = withMiddleware([bound], [passing('outer'), passing('inner')]);
  expect(await wrapped!.handler({} as HandlerRequest)).toMatchObject({ body: 'the answer' });
  expect(passed).toEqual(['outer', 'inner']);
});
