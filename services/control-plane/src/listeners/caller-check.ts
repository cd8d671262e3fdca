import { type CallerAnswer, type CallerQuestion, conforms, JsonWebKeySet, VerifyKeyResponse } from '@runyard/contracts';
import { type InternalClient, UnavailableError } from '@runyard/service-kit';
import type { Static } from 'typebox';
import { requireOwn, type Speaker } from './speaker.ts';

/**
 * Verifies, for a data plane, the keys of callers of its deployments. The principal tokens it returns are valid for one
 * deployment of that data plane, and not for the platform.
 */
export class CallerCheck {
  readonly #orgAccess: Pick<InternalClient, 'request'>;

  constructor(orgAccess: Pick<InternalClient, 'request'>) {
    this.#orgAccess = orgAccess;
  }

  /** @throws NotFoundError for a deployment that is not its own; UnavailableError when org-access cannot be reached */
  async verify(speaker: Speaker, { epoch, ...question }: CallerQuestion): Promise<CallerAnswer> {
    const [, deploymentId] = question.audience.split(':');
    await speaker.runAsOwner(epoch, async (transaction, own) => {
      if (deploymentId !== undefined) await requireOwn(transaction, { ...own, id: deploymentId });
    });
    const { key, audience, workspace_id } = question;
    const body = { key, audience, ...(workspace_id == null ? {} : { workspace_id }) };
    const answer = await this.#request('/internal/keys/verify', body);
    if (answer.status === 200 && conforms(VerifyKeyResponse, answer.body)) {
      return { status: 200, verified: answer.body, detail: null };
    }
    const { detail } = (answer.body ?? {}) as { detail?: unknown };
    if (answer.status === 401) return { status: 401, verified: null, detail: 'Invalid API key' };
    if (answer.status === 403) {
      return { status: 403, verified: null, detail: typeof detail === 'string' ? detail : 'Forbidden' };
    }
    throw unavailable(new Error(`org-access answers ${answer.status}`));
  }

  async keySet(speaker: Speaker): Promise<Static<typeof JsonWebKeySet>> {
    await speaker.require();
    const { status, body } = await this.#request('/.well-known/jwks.json', null);
    if (status !== 200 || !conforms(JsonWebKeySet, body)) throw unavailable(new Error(`org-access answers ${status}`));
    return body;
  }

  async #request(path: string, question: object | null): Promise<{ status: number; body: unknown }> {
    return this.#orgAccess.request(path, question).catch((cause) => {
      throw unavailable(cause);
    });
  }
}

function unavailable(cause: unknown): UnavailableError {
  return new UnavailableError('Callers cannot be checked at the moment', {
    code: 'key_check_unavailable',
    cause,
    retryAfterSeconds: 1,
  });
}
