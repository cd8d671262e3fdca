import {
  createOrganization,
  currentOrganizationOperations,
  getOrganizationInfo,
  getPlatformInfo,
  listMyOrganizations,
  OPEN_API_INFO,
  updateOrganizationInfo,
} from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { MyOrganizationsService } from './my-organizations-service.ts';
import type { OrganizationService } from './organization-service.ts';

export function organizationRoutes(parts: {
  organizations: OrganizationService;
  mine: MyOrganizationsService;
  keys: IdempotencyKeys;
}): BoundOperation[] {
  const { organizations, mine, keys } = parts;
  return [
    ...listMyOrganizations.map((operation) =>
      bind(operation, async ({ caller, query }) => ok(await mine.list(caller, query))),
    ),
    ...createOrganization.map((operation) =>
      bindCreation(keys, operation, ok, ({ caller, body }, keyed) => mine.create(caller, body, keyed)),
    ),
    ...currentOrganizationOperations.flatMap((operations) => [
      bind(operations.get, async ({ caller }) => ok(await organizations.current(caller))),
      bind(operations.updateLoginMethods, async ({ caller, body }) =>
        ok(await organizations.setSsoOnly(caller, body.sso_only)),
      ),
      bind(operations.setDefault, async ({ caller }) => ok(await organizations.setDefault(caller))),
      bind(operations.myLoginMethods, async ({ caller }) => ok(await organizations.listLoginMethods(caller))),
    ]),
    bind(getPlatformInfo, () =>
      ok({
        version: OPEN_API_INFO['org-access'].version,
        license_expiration_time: null,
        batch_ingest_config: null,
        instance_flags: {},
      }),
    ),
    ...getOrganizationInfo.map((operation) =>
      bind(operation, async ({ caller }) => ok(await organizations.info(caller))),
    ),
    ...updateOrganizationInfo.map((operation) =>
      bind(operation, async ({ caller, body }) => ok(await organizations.update(caller, body))),
    ),
  ];
}
