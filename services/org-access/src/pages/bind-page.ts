import type { Operation } from '@runyard/contracts';
import { type BoundOperation, bind, type HandlerRequest, type Reply, redirect } from '@runyard/service-kit';
import type { Static, TObject, TSchema } from 'typebox';
import { html } from './html.ts';
import { showPage } from './layout.ts';
import { faultOf, requireNavigation } from './page-request.ts';

/** Characters of an address to which a sign-in leads back. */
export const RETURN_ADDRESS_MAX = 2_000;

/**
 * Binds a page or the end of its form. A page that needs a session leads who has none to sign-in, and back; any other
 * error that the caller can do something about is a page too.
 */
export function bindPage<Query extends TObject, Body extends TSchema>(
  operation: Operation<TObject, Query, Body>,
  handler: (request: HandlerRequest<unknown, Static<Query>, Static<Body>>) => Promise<Reply>,
): BoundOperation {
  return bind(operation, async (request) => {
    try {
      requireNavigation(request.headers, operation.method === 'get' ? 'get' : 'post');
      return await handler(request as HandlerRequest<unknown, Static<Query>, Static<Body>>);
    } catch (error) {
      const fault = faultOf(error);
      if (!fault) throw error;
      const { code } = error as { code: string };
      request.res.locals.errorCode = code;
      if (code === 'session_invalid')
        return redirect(`/login?return_to=${encodeURIComponent(returnPath(operation, request))}`);
      const body = html`<p><a href="/login">Go to sign-in</a></p>`;
      return showPage({ title: titleOf(fault.status), body, fault: fault.text }, fault);
    }
  });
}

/**
 * Returns the page to come back to after a sign-in: never the end of a form, and nothing so long that the gateway would
 * refuse the answer that names it.
 */
function returnPath(operation: Operation, { raw }: Pick<HandlerRequest, 'raw'>): string {
  if (operation.method !== 'get') return '/auth/account';
  return raw.originalUrl.length <= RETURN_ADDRESS_MAX ? raw.originalUrl : operation.path;
}

function titleOf(status: number): string {
  if (status === 403) return 'Access denied';
  return status === 429 ? 'Too many attempts' : 'This does not work';
}

/** Shows a form again when what it sent is refused. */
export async function orShowAgain(work: () => Promise<Reply>, show: (fault: string) => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    const fault = faultOf(error);
    if (!fault || (error as { code: string }).code === 'form_from_elsewhere') throw error;
    const reply = await show(fault.text);
    return { ...reply, status: fault.status, headers: { ...reply.headers, ...fault.headers } };
  }
}
