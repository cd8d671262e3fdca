import { VerifyKeyResponse } from '@runyard/contracts';
import { type InternalClient, parseInternalAnswer } from '../internal-client.ts';

export interface KeyCheckRequest {
  key: string;
  /** The service that the principal token is for. */
  audience: string;
  workspaceId?: string;
}

export type KeyCheckResult =
  | { kind: 'good'; token: string; claims: VerifyKeyResponse['claims'] }
  /** The key is unknown, revoked or expired. */
  | { kind: 'refused' }
  /** The key is good and does not reach the requested workspace. */
  | { kind: 'other_workspace'; detail: string };

const KEY_LENGTH_MAX = 512;

/** Asks org-access about a key. @throws when org-access is unavailable. */
export async function checkKey(orgAccess: InternalClient, request: KeyCheckRequest): Promise<KeyCheckResult> {
  // No key is that long, and the contract does not allow asking about it.
  if (request.key.length > KEY_LENGTH_MAX) return { kind: 'refused' };
  const answer = await orgAccess.call('POST', '/internal/keys/verify', {
    key: request.key,
    audience: request.audience,
    ...(request.workspaceId === undefined ? {} : { workspace_id: request.workspaceId }),
  });
  if (answer.status === 401 || answer.status === 404) return { kind: 'refused' };
  if (answer.status === 403) return { kind: 'other_workspace', detail: detailOf(answer.body) };
  return { kind: 'good', ...parseInternalAnswer(VerifyKeyResponse, answer) };
}

function detailOf(body: unknown): string {
  const detail = (body as { detail?: unknown } | undefined)?.detail;
  return typeof detail === 'string' ? detail : 'Forbidden';
}
