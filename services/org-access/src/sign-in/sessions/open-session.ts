import { randomBytes } from 'node:crypto';
import { SESSION_TOKEN_PREFIX } from '@runyard/contracts';
import { v7 as uuidv7 } from 'uuid';
import { hashSecret } from '../../database/hash-secret.ts';
import type { Prisma } from '../../generated/client.ts';

export interface NewSession {
  personId: string;
  loginId: string | null;
  expiresAt: Date;
  address: string | null;
  userAgent: string | null;
  /** The program that the session is for; without it, a browser. */
  clientId?: string;
  /** The deployment of which it uses the MCP server alone, and the address of that. */
  deploymentId?: string;
  resource?: string;
  /** The organization in which it acts first. */
  organizationId?: string | null;
  /** Set for sign-in by an organization's provider: the session may act in that organization alone. */
  sso?: {
    organizationId: string;
    providerId: string;
    /** `sid` of OIDC or SessionIndex of SAML. */
    sessionId: string | null;
    /** `sub` of OIDC or NameID of SAML. */
    subject: string;
    encryptedIdToken: string | null;
  };
}

/** Creates a session. @returns its id, and the token, which is stored nowhere */
export async function openSession(
  transaction: Prisma.TransactionClient,
  { sso, ...session }: NewSession,
): Promise<{ id: string; token: string }> {
  const token = makeSessionToken();
  const { id } = await transaction.session.create({
    data: {
      ...session,
      id: uuidv7(),
      tokenSha256: hashSecret(token),
      ...(sso && {
        ssoOrganizationId: sso.organizationId,
        ssoProviderId: sso.providerId,
        providerSessionId: sso.sessionId,
        providerSubject: sso.subject,
        encryptedIdToken: sso.encryptedIdToken,
        organizationId: sso.organizationId,
      }),
    },
  });
  return { id, token };
}

export function makeSessionToken(): string {
  return SESSION_TOKEN_PREFIX + randomBytes(32).toString('base64url');
}
