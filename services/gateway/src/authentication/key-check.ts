import { VerifyKeyResponse } from '@runyard/contracts';
import { checked, type InternalClient } from '../internal-client.ts';

export interface KeyQuestion {
  key: string;
  /** The service that the principal token is for. */
  audience: string;
  workspaceId?: string;
}

export type KeyAnswer =
  | { kind: 'good'; token: string; claims: VerifyKeyResponse['claims'] }
  /** The key is unknown, revoked or expired. */
  | { kind: 'refused' }
  /** The key is good and does not reach the requested workspace. */
  | { kind: 'elsewhere'; detail: string };

const KEY_LENGTH_MAX = 512;

/** Asks org-access about a key. @throws when org-access is unavailable. */
export async function checkKey(orgAccess: InternalClient, question: KeyQuestion): Promise<KeyAnswer> {
  // No key is that long, and the contract does not allow asking about it.
  if (question.key.length > KEY_LENGTH_MAX) return { kind: 'refused' };
  const answer = await orgAccess.call('POST', '/internal/keys/verify', {
    key: question.key,
    audience: question.audience,
    ...(question.workspaceId === undefined ? {} : { workspace_id: question.workspaceId }),
  });
  if (answer.status === 401 || answer.status === 404) return { kind: 'refused' };
  if (answer.status === 403) return { kind: 'elsewhere', detail: detailOf(answer.body) };
  return { kind: 'good', ...checked(VerifyKeyResponse, answer) };
}

function detailOf(body: unknown): string {
  const detail = (body as { detail?: unknown } | undefined)?.detail;
  return typeof detail === 'string' ? detail : 'Forbidden';
}
