import { AppError } from '@runyard/service-kit';
import { findGroupColumn, findUserColumn } from './filter/columns.ts';
import { type ListRequest, listResponse, readListRequest } from './list-request.ts';
import type { ScimObject } from './resources/normalize.ts';
import { GROUP_TYPE, USER_TYPE } from './schemas/resource-type.ts';
import type { ScimScope } from './scim-gate.ts';
import type { ScimResources } from './scim-resources.ts';

/**
 * Searches users, and then groups, as one list. A type that does not have an attribute of the filter has no result.
 *
 * @throws BadRequestError when neither type can be searched so
 */
export async function searchAll(
  { users, groups }: { users: ScimResources; groups: ScimResources },
  scope: ScimScope,
  body: ScimObject,
): Promise<ScimObject> {
  const [ofUsers, ofGroups] = [
    attempt(() => readListRequest(USER_TYPE, body, findUserColumn)),
    attempt(() => readListRequest(GROUP_TYPE, body, findGroupColumn)),
  ];
  if (ofUsers instanceof AppError && ofGroups instanceof AppError) throw ofUsers;
  const pageOfUsers = ofUsers instanceof AppError ? EMPTY : await users.list(scope, ofUsers);
  const found = (pageOfUsers.Resources as ScimObject[]).length;
  const pageOfGroups =
    ofGroups instanceof AppError
      ? EMPTY
      : await groups.list(scope, {
          ...ofGroups,
          startIndex: Math.max(1, ofGroups.startIndex - Number(pageOfUsers.totalResults)),
          count: ofGroups.count - found,
        });
  const { startIndex } = (ofUsers instanceof AppError ? ofGroups : ofUsers) as ListRequest;
  return listResponse({
    total: Number(pageOfUsers.totalResults) + Number(pageOfGroups.totalResults),
    startIndex,
    resources: [...(pageOfUsers.Resources as ScimObject[]), ...(pageOfGroups.Resources as ScimObject[])],
  });
}

const EMPTY: ScimObject = { totalResults: 0, Resources: [] };

function attempt(read: () => ListRequest): ListRequest | AppError {
  try {
    return read();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}
