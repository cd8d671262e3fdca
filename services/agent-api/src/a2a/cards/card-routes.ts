import { createHash } from 'node:crypto';
import * as contracts from '@runyard/contracts';
import { BadRequestError, type HandlerRequest, ok } from '@runyard/service-kit';
import type { GuardedOperation, RouteGuard } from '../../auth/route-guard.ts';
import { A2aError } from '../protocol/a2a-error.ts';
import { requestedVersion } from '../protocol/versions.ts';
import type { AgentCards, CardRequest } from './agent-cards.ts';

const CACHED = 'public, max-age=300';

const REASON = 'Cards, and the keys that sign them, are for everybody.';

/** Serves cards and the keys that sign them: they need no credential. */
export function cardRoutes(cards: AgentCards, guard: RouteGuard): GuardedOperation[] {
  return [
    guard.exempt(contracts.getAgentCard, REASON, async (req) =>
      card(await cards.publicCard(req.query.assistant_id, toCardRequest(req))),
    ),
    guard.exempt(contracts.getAssistantCard, REASON, async (req) =>
      card(await cards.publicCard(req.params.assistant_id, toCardRequest(req))),
    ),
    guard.exempt(contracts.getPinnedAssistantCard, REASON, async ({ params, headers }) =>
      card(await cards.publicCard(params.assistant_id, { headers, version: '1.0' })),
    ),
    guard.exempt(contracts.getCardKeys, REASON, () => ok(cards.keys, { 'cache-control': CACHED })),
  ];
}

/** @throws BadRequestError for a version that is not spoken here */
function toCardRequest({ headers, raw }: Pick<HandlerRequest, 'headers' | 'raw'>): CardRequest {
  try {
    return { headers, version: requestedVersion(headers, raw.url) };
  } catch (error) {
    if (error instanceof A2aError) throw new BadRequestError(error.message);
    throw error;
  }
}

/** A signature is another one each time: the tag is that of the content. */
function card(body: object) {
  const { signatures: _, ...content } = body as { signatures?: unknown };
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('base64url');
  return ok(body, { 'cache-control': CACHED, etag: `"${hash}"`, vary: 'A2A-Version' });
}
