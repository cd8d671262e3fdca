import type pg from 'pg';
import type { RequireRun } from '../access/require-run.ts';
import type { RouteGuard } from '../auth/route-guard.ts';
import { feedbackRoutes } from './feedback-routes.ts';
import { FeedbackStore } from './feedback-store.ts';
import { FeedbackTokens } from './feedback-tokens.ts';

/**
 * Opens feedback on runs by those who get a URL for it. The key that signs the URLs is kept in the deployment's
 * database, so that all its processes accept each other's URLs, and a restart invalidates none of them.
 */
export async function openFeedback({ pool, ttlSeconds }: { pool: pg.Pool; ttlSeconds: number }) {
  const { rows } = await pool.query<{ signing_key: Buffer }>('SELECT signing_key FROM deployment');
  const tokens = new FeedbackTokens({ signingKey: rows[0]!.signing_key, ttlSeconds });
  const store = new FeedbackStore(pool);
  return {
    tokens,
    routes: (requireRun: RequireRun, guard: RouteGuard) => feedbackRoutes({ tokens, store, requireRun, guard }),
  };
}
