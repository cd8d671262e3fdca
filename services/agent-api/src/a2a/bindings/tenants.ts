import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from '@runyard/service-kit';

/** The paths of HTTP+JSON with a tenant before the rest. `v1` begins the paths of 0.3. */
const WITH_TENANT =
  /^(\/a2a\/[^/?]+)\/(?!v1\/|tasks\/)([^/?]+)(\/(?:message:(?:send|stream)|tasks(?:\/[^?]*)?|extendedAgentCard)(?:\?.*)?)$/;

const tenants = new WeakMap<IncomingMessage, string>();

/** Takes the tenant off a path of HTTP+JSON: each path of 1.0 exists with and without one. */
export const takeTenantOff: RequestHandler = (req, _res, next) => {
  const [, agent, tenant, rest] = WITH_TENANT.exec(req.url) ?? [];
  if (tenant !== undefined) {
    tenants.set(req, decoded(tenant));
    req.url = `${agent}${rest}`;
  }
  next();
};

/** Returns the tenant that was in the path of a request. */
export function tenantInPath(req: IncomingMessage): string | undefined {
  return tenants.get(req);
}

/** A name that cannot be decoded is that of no tenant. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
