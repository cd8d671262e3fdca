import { handOverFormerRows } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { FormerOAuthRows } from './former-oauth-rows.ts';

export function formerRowRoutes(rows: FormerOAuthRows): BoundOperation[] {
  return [
    bind(handOverFormerRows, async ({ body }) => {
      if (body.stored != null) await rows.delete(body.stored.kind, body.stored.ids);
      return ok(await rows.read(body.after ?? null));
    }),
  ];
}
