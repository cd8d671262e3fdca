import {
  createGithubIntegration,
  deleteGithubIntegration,
  listForgeGithubIntegrations,
  listForgeGithubRepositories,
  listGithubIntegrations,
  listGithubRepositories,
} from '@runyard/contracts';
import { toSqlValue } from '@runyard/database';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, created, noContent, ok } from '@runyard/service-kit';
import type { GithubIntegrations } from './integrations.ts';

export function integrationRoutes(integrations: GithubIntegrations, keys: IdempotencyKeys): BoundOperation[] {
  return [
    ...[listGithubIntegrations, listForgeGithubIntegrations].map((operation) =>
      bind(operation, async ({ caller }) => ok(await integrations.list(caller))),
    ),
    ...[listGithubRepositories, listForgeGithubRepositories].map((operation) =>
      bind(operation, async ({ caller, params, signal }) =>
        ok(await integrations.repositories(caller, params.integration_id.toLowerCase(), signal)),
      ),
    ),
    bindCreation(keys, createGithubIntegration, created, ({ caller, body }, keyed) =>
      integrations.create(caller, toSqlValue(body), keyed),
    ),
    bind(deleteGithubIntegration, async ({ caller, params }) => {
      await integrations.delete(caller, params.integration_id.toLowerCase());
      return noContent();
    }),
  ];
}
