import { type BoundOperation, type HandlerRequest, UnsupportedMediaTypeError } from '@runyard/service-kit';

/**
 * Refuses bodies that their sender calls something else than JSON, before the operation sees them: a page of any origin
 * can send JSON as text, with the cookies of whoever looks at it, and no browser asks before.
 */
export function requireJson<Operation extends BoundOperation>(inner: Operation): Operation {
  return {
    ...inner,
    handler: async (request) => {
      if (request.body !== undefined && !mayBeJson(request)) {
        throw new UnsupportedMediaTypeError('The content of a request must be JSON: application/json');
      }
      return inner.handler(request);
    },
  };
}

/** Returns whether a body is JSON by what the headers say; those that say nothing may be. */
export function mayBeJson({ headers: { 'content-type': named = '' } }: Pick<HandlerRequest, 'headers'>): boolean {
  const type = named.split(';')[0]!.trim().toLowerCase();
  return type === '' || type === 'application/json' || (type.startsWith('application/') && type.endsWith('+json'));
}
