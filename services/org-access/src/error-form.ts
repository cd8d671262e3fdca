import type { ErrorForm } from '@runyard/service-kit';
import { isOAuthPath, toOAuthError } from './oauth/oauth-error.ts';
import { toScimError } from './scim/scim-error-form.ts';
import { isScimPath } from './scim/scim-gate.ts';

/** The paths whose errors are `{"error": "…"}`, without and with the prefix of self-hosted clients. */
const PLATFORM_ERRORS = /^(\/api)?\/v1\/platform\/orgs\/current\/(scim|access-policies|roles)(\/|\?|$)/;

/** Gives the errors of some paths the form that their clients read; lists of invalid fields stay lists. */
export const errorForm: ErrorForm = (req, reply) => {
  if (isScimPath(req)) return toScimError(req, reply);
  if (isOAuthPath(req)) return toOAuthError(req, reply);
  const { detail, ...more } = reply.body;
  if (typeof detail === 'string' && PLATFORM_ERRORS.test(req.url ?? '')) {
    return { ...reply, body: { ...more, error: detail } };
  }
  return reply;
};
