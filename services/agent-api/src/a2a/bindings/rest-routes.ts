import type { Operation } from '@runyard/contracts';
import type { GuardedOperation, RouteGuard } from '../../auth/route-guard.ts';
import type { Fields } from '../../http/fields.ts';
import type { OpenResponses } from '../../streams/open-responses.ts';
import { METHODS_ASK } from '../methods/access.ts';
import type { Method, MethodName } from '../methods/method-table.ts';
import { answerRest, type RestBinding, type RestRequest, withoutBody } from './rest-call.ts';

/** An operation, its method, and how a request says the method's parameters. */
export type RestRoute = readonly [operation: object, name: MethodName, toParams: (req: RestRequest) => Fields];

/** Methods whose answer has no body over HTTP. */
const WITHOUT_BODY: ReadonlySet<MethodName> = new Set(['DeleteTaskPushNotificationConfig']);

/** Serves the routes of a version of HTTP+JSON. @throws TypeError for an operation with another permission than its method */
export function restRoutes(
  binding: RestBinding,
  routes: readonly RestRoute[],
  { methods, open, guard }: { methods: Record<MethodName, Method>; open: OpenResponses; guard: RouteGuard },
): GuardedOperation[] {
  return routes.map(([operation, name, toParams]) => {
    const method = { operation: operation as Operation, method: methods[name], toParams };
    // Over JSON-RPC the method's permission decides alone: without this the two could differ unseen.
    if (method.operation.permission !== method.method.permission) {
      throw new TypeError(`${method.operation.operationId} and ${name} need different permissions`);
    }
    return guard.exempt(method.operation, METHODS_ASK, async (req) => {
      const reply = await answerRest(binding, method, req as unknown as RestRequest, open);
      return WITHOUT_BODY.has(name) ? withoutBody(reply) : reply;
    });
  });
}
