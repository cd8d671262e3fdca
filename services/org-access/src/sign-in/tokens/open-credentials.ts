import { retryStartStep } from '@runyard/database';
import type { BoundOperation } from '@runyard/service-kit';
import { ExpiredAccountSweeper } from '../../access/credentials/expired-account-sweeper.ts';
import type { UseRecorder } from '../../database/use-recorder.ts';
import type { Foundation } from '../../foundation.ts';
import { createLastSeenRecorder } from '../sessions/last-seen-recorder.ts';
import { LiveSessions } from '../sessions/live-sessions.ts';
import { SessionSweeper } from '../sessions/session-sweeper.ts';
import { AccessTokens } from './access-tokens.ts';
import { CredentialVerifier } from './credential-verifier.ts';
import { KeyVerifier } from './key-verifier.ts';
import { createLastUseRecorder } from './last-use-recorder.ts';
import { PrincipalTokens } from './principal-tokens.ts';
import { sessionRoutes } from './session-routes.ts';
import { SessionService } from './session-service.ts';
import { SessionVerifier } from './session-verifier.ts';
import { SigningKeys } from './signing-keys.ts';

export interface Credentials {
  signingKeys: SigningKeys;
  accessTokens: AccessTokens;
  sessions: LiveSessions;
  lastSeen: UseRecorder;
  /** Turns a key or a session into a signed principal. */
  verifier: CredentialVerifier;
  routes: BoundOperation[];
}

/** Opens the checks of keys, sessions and access tokens, and the keys that sign what they answer. */
export async function openCredentials({ config, context, database, cipher }: Foundation): Promise<Credentials> {
  const { lifecycle, logger } = context;
  const { prisma } = database;
  const signingKeys = new SigningKeys({ prisma, cipher, logger, rotationDays: config.SIGNING_KEY_ROTATION_DAYS });
  await retryStartStep(() => signingKeys.start(), context);
  lifecycle.onStop('signing keys', () => signingKeys.stop());

  const lastUse = createLastUseRecorder({ prisma, logger });
  const lastSeen = createLastSeenRecorder({ prisma, logger });
  const background = {
    'last use of keys': lastUse,
    'last use of sessions': lastSeen,
    'ended sessions': new SessionSweeper({ prisma, logger }),
    'accounts with expired keys': new ExpiredAccountSweeper({ database, logger }),
  };
  for (const [name, part] of Object.entries(background)) {
    part.start();
    lifecycle.onStop(name, () => part.stop());
  }

  const tokens = new PrincipalTokens({ keys: signingKeys, ttlSeconds: config.PRINCIPAL_TOKEN_TTL_SECONDS });
  const accessTokens = new AccessTokens({ keys: signingKeys, ttlSeconds: config.ACCESS_TOKEN_TTL_SECONDS });
  const limits = {
    maxSeconds: config.SESSION_MAX_SECONDS,
    idleSeconds: config.SESSION_IDLE_SECONDS,
    programSeconds: config.PROGRAM_SESSION_SECONDS,
  };
  const sessions = new LiveSessions({ prisma, limits, lastSeen });
  const verifier = new CredentialVerifier({
    keys: new KeyVerifier({ prisma, tokens, lastUse }),
    sessions: new SessionVerifier({ prisma, sessions, lastSeen, tokens, accessTokens }),
  });
  const routes = sessionRoutes(new SessionService({ database, sessions, accessTokens }));
  return { signingKeys, accessTokens, sessions, lastSeen, verifier, routes };
}
