import type { AccessExplanation } from '@runyard/contracts';
import { queryOptions, skipToken } from '@tanstack/react-query';
import { ask } from './ask.ts';
import { at } from './path.ts';

/** A question about what an identity may do. */
export interface AccessQuestion {
  /** A member or a service account. */
  identity: string;
  permission: string;
  /** A workspace, a deployment or a service key; missing: the organization. */
  resource?: string | undefined;
  /** The workspace of the deployment or the key. */
  workspace_id?: string | undefined;
  /** A key of the identity. */
  api_key_id?: string | undefined;
}

/** Explains why an identity has a permission or lacks it. Without a question nothing is asked. */
export function accessQuery(workspaceId: string, question: AccessQuestion | undefined) {
  const path = at`/api/v1/orgs/current/access/explain`;
  return queryOptions({
    queryKey: ['access', workspaceId, question],
    queryFn: question
      ? ({ signal }) => ask<AccessExplanation>(path, { workspaceId, signal, query: { ...question } })
      : skipToken,
  });
}
