import { VerifyKeyResponse } from '@runyard/contracts';
import { type InternalClient, parseInternalAnswer } from '../internal-client.ts';

export interface KeyCheckRequest {
  key: string;
  /** The service that the principal token is for. */
  audience: string;
  workspaceId?: string;
  /** The organization in which a person wants to act. */
  organizationId?: string;
  /** True for a request that began when its token was valid: only the end of the session counts. */
  isInProgress?: boolean;
  /** True where a wrong key gains nothing that no key would not: it counts as no failure to authenticate. */
  isHarmless?: boolean;
}

export type KeyCheckResult =
  | { kind: 'good'; token: string; claims: VerifyKeyResponse['claims']; allowedNetworks?: readonly string[] }
  /** The credential is unknown, revoked or expired. */
  | { kind: 'refused' }
  /** The credential is good and does not reach the requested workspace or organization. */
  | { kind: 'out_of_reach'; detail: string }
  /** The organization is not used from the client's address. */
  | { kind: 'address_not_allowed' };

/** Checks the keys of one request. */
export type KeyChecker = (request: KeyCheckRequest) => KeyCheckResult | Promise<KeyCheckResult>;

const KEY_LENGTH_MAX = 512;

/** Asks org-access about a key. @throws when org-access is unavailable. */
export async function checkKey(orgAccess: InternalClient, request: KeyCheckRequest): Promise<KeyCheckResult> {
  // No key is that long, and the contract does not allow asking about it.
  if (request.key.length > KEY_LENGTH_MAX) return { kind: 'refused' };
  const answer = await orgAccess.call('POST', '/internal/keys/verify', {
    key: request.key,
    audience: request.audience,
    ...(request.workspaceId === undefined ? {} : { workspace_id: request.workspaceId }),
    ...(request.organizationId === undefined ? {} : { organization_id: request.organizationId }),
    ...(request.isInProgress ? { in_progress: true } : {}),
  });
  if (answer.status === 401 || answer.status === 404) return { kind: 'refused' };
  if (answer.status === 403) return { kind: 'out_of_reach', detail: detailOf(answer.body) };
  const { token, claims, allowed_networks: allowedNetworks } = parseInternalAnswer(VerifyKeyResponse, answer);
  return { kind: 'good', token, claims, ...(allowedNetworks && { allowedNetworks }) };
}

function detailOf(body: unknown): string {
  const detail = (body as { detail?: unknown } | undefined)?.detail;
  return typeof detail === 'string' ? detail : 'Forbidden';
}
