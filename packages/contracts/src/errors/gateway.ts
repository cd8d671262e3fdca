import type { ErrorEntry } from './entry.ts';

/** Errors of the gateway about routes, rates, and the processes behind it. */
export const GATEWAY_ERRORS = {
  deployment_not_found: {
    status: 404,
    meaning:
      "There is no such deployment, or it is not of the key's workspace; at a host below `DEPLOYMENTS_DOMAIN`: no deployment has this slug.",
    remedy: 'Compare with `GET /v2/deployments`.',
  },
  rate_of_key_exceeded: {
    status: 429,
    meaning: 'The key is over `RATE_LIMIT_RPS`.',
    remedy: 'Wait for `Retry-After`; if that much is intended, raise the limit.',
    refusal: 'rate_of_key',
  },
  rate_of_workspace_exceeded: {
    status: 429,
    meaning: 'All keys of the workspace together are over `RATE_LIMIT_TENANT_RPS`.',
    remedy: 'Wait for `Retry-After`; if that much is intended, raise the limit.',
    refusal: 'rate_of_tenant',
  },
  rate_of_person_exceeded: {
    status: 429,
    meaning: 'All sessions and personal tokens of the person together are over `RATE_LIMIT_PERSON_RPS`.',
    remedy: 'Wait for `Retry-After`; if that much is intended, raise the limit.',
    refusal: 'rate_of_person',
  },
  rate_of_organization_exceeded: {
    status: 429,
    meaning: 'All callers of the organization together are over `RATE_LIMIT_ORGANIZATION_RPS`.',
    remedy: 'Wait for `Retry-After`; if that much is intended, raise the limit.',
    refusal: 'rate_of_organization',
  },
  too_many_runs_of_person: {
    status: 429,
    meaning: 'The person has `HTTP_MAX_RUNS_PER_PERSON` requests open that run something and wait for its end.',
    remedy: 'Wait for `Retry-After`, start runs without waiting for them, or raise the limit.',
    refusal: 'runs_of_person',
  },
  too_many_runs_of_workspace: {
    status: 429,
    meaning: 'Deployments of the workspace have `HTTP_MAX_RUNS_PER_WORKSPACE` such requests open.',
    remedy: 'Wait for `Retry-After`, start runs without waiting for them, or raise the limit.',
    refusal: 'runs_of_workspace',
  },
  too_many_runs_of_organization: {
    status: 429,
    meaning: 'Deployments of the organization have `HTTP_MAX_RUNS_PER_ORGANIZATION` such requests open.',
    remedy: 'Wait for `Retry-After`, start runs without waiting for them, or raise the limit.',
    refusal: 'runs_of_organization',
  },
  rate_of_address_exceeded: {
    status: 429,
    meaning: 'Callers without a key are over `RATE_LIMIT_ADDRESS_RPS` from this address.',
    remedy:
      'Wait for `Retry-After`; if that much is intended, raise the limit. Behind a proxy, is `TRUSTED_PROXIES` set?',
    refusal: 'rate_of_address',
  },
  too_many_failures_to_authenticate: {
    status: 429,
    meaning:
      'Over `RATE_LIMIT_FAILURES_RPS` are wrong keys or sign-ins from this address, or requests with this key for ' +
      'workspaces, organizations and deployments that it does not reach.',
    remedy: 'Correct the client; behind a proxy, is `TRUSTED_PROXIES` set?',
    refusal: 'rate_of_authentication_failures',
  },
  too_many_requests_of_key: {
    status: 429,
    meaning: 'The key has `HTTP_MAX_REQUESTS_PER_KEY` requests open.',
    remedy: 'Wait for `Retry-After`.',
    refusal: 'requests_of_key',
  },
  too_many_requests_of_upstream: {
    status: 503,
    meaning:
      'Each process of the deployment has `HTTP_MAX_REQUESTS_PER_UPSTREAM` to answer. Nothing was done for the request.',
    remedy: 'Retry after `Retry-After`, as the SDKs do; if it lasts, add processes to the deployment.',
    refusal: 'requests_of_upstream',
  },
  arrival_delay_exceeded: {
    status: 503,
    meaning:
      'The gateway does not keep up: requests wait longer than `HTTP_MAX_ARRIVAL_DELAY_SECONDS` to be read. Nothing was done for the request.',
    remedy: 'Retry after `Retry-After`; if it lasts, add replicas.',
    refusal: 'arrival_delay',
  },
  upstream_broke_off: {
    status: 503,
    meaning:
      'The process behind died with the request in flight, or the network dropped it, and the request may not be repeated automatically.',
    remedy:
      "Send an `Idempotency-Key` with requests that create: the gateway then repeats them itself. See the process's log, by `x-request-id`.",
  },
  upstream_unreachable: {
    status: 503,
    meaning: 'Nothing listens where the route points.',
    remedy: 'The route is refreshed by event; if it lasts, control-plane and its processes disagree.',
  },
  upstream_answer_invalid: {
    status: 502,
    meaning: 'The answer of the process behind is not HTTP.',
    remedy: 'Is it an agent-api that listens there?',
  },
  upgrade_failed: {
    status: 502,
    meaning: 'A websocket could not be opened, in a way that nobody has foreseen.',
    remedy: 'Find the line `upgrade failed unexpectedly` in the log, and report it.',
  },
  deployment_not_running: {
    status: 503,
    meaning: 'The route has no healthy agent-api.',
    remedy: "Look at the deployment's revision in control-plane.",
  },
  answer_not_continued: {
    status: 503,
    meaning: 'A process stopped and handed an answer over, and no other process of the deployment continues it.',
    remedy: 'Clients rejoin after the last event they have; look at the processes of the deployment.',
  },
  routes_unknown: {
    status: 503,
    meaning: 'The gateway has no route snapshot since its start.',
    remedy: 'Is control-plane up? The log says `route snapshot failed`.',
  },
} as const satisfies Record<string, ErrorEntry>;
