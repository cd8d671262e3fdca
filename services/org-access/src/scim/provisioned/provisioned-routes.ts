import { scimProvisionedOperations } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { ProvisionedPage, ProvisionedService } from './provisioned-service.ts';

export function provisionedRoutes(provisioned: ProvisionedService): BoundOperation[] {
  return scimProvisionedOperations.flatMap(({ listUsers, listGroups }) => [
    bind(listUsers, async ({ caller, query }) => answer(await provisioned.listUsers(caller, query))),
    bind(listGroups, async ({ caller, query }) => answer(await provisioned.listGroups(caller, query))),
  ]);
}

function answer({ items, total }: ProvisionedPage<unknown>) {
  return ok(items, { 'x-pagination-total': String(total) });
}
