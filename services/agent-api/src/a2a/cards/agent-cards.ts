import type { IncomingHttpHeaders } from 'node:http';
import { BadRequestError, NotFoundError, UnprocessableError } from '@runyard/service-kit';
import type { Scope } from '../../access/scope.ts';
import type { AssistantRecord } from '../../assistants/assistant-record.ts';
import type { AssistantService } from '../../assistants/assistant-service.ts';
import type { RememberedSchemas } from '../../assistants/remembered-schemas.ts';
import type { A2aVersion } from '../protocol/versions.ts';
import { agentCard, type CardContent, extendedCard, hybridCard } from './agent-card.ts';
import type { CardSigner } from './card-signer.ts';
import type { OwnAddresses } from './own-addresses.ts';

export interface AgentCardsOptions {
  assistants: Pick<AssistantService, 'find'>;
  schemas: Pick<RememberedSchemas, 'of'>;
  signer: CardSigner;
  addresses: OwnAddresses;
  graphIds: readonly string[];
  /** The assistants whose cards everybody sees. */
  publicScope: Scope;
  pushes: boolean;
  isProtected: boolean;
}

export interface CardRequest {
  headers: IncomingHttpHeaders;
  /** Undefined for a client that names no version: it gets the fields of both. */
  version: A2aVersion | undefined;
}

const CARD_KEYS_PATH = '/.well-known/agent-card-keys.json';

/** Makes the cards of assistants, and signs those that name an address of the deployment. */
export class AgentCards {
  readonly #options: AgentCardsOptions;

  constructor(options: AgentCardsOptions) {
    this.#options = options;
  }

  /** The public keys that verify cards. */
  get keys(): { keys: Record<string, unknown>[] } {
    return { keys: [{ ...this.#options.signer.publicKey }] };
  }

  /** Without an assistant it is the one of the only graph. @throws NotFoundError, BadRequestError */
  async publicCard(idOrGraph: string | undefined, request: CardRequest): Promise<object> {
    const { graphIds, assistants, publicScope } = this.#options;
    const [only, ...others] = graphIds;
    const named = idOrGraph ?? (others.length === 0 ? only : undefined);
    if (named === undefined) {
      throw new BadRequestError('Missing required query parameter: assistant_id');
    }
    const assistant = await assistants.find(publicScope, named).catch((error: unknown) => {
      // The message lists the graphs, which are not for everybody.
      if (error instanceof UnprocessableError) throw new NotFoundError('Assistant not found');
      throw error;
    });
    return this.#sign(request, (baseUrl) => this.#contentOf(assistant, baseUrl));
  }

  /** Returns the card for a caller who may see the assistant. */
  async extendedCard(assistant: AssistantRecord, request: CardRequest): Promise<object> {
    const { input } = await this.#options.schemas.of(assistant);
    return this.#sign(request, (baseUrl) => extendedCard(this.#contentOf(assistant, baseUrl), input));
  }

  #contentOf(assistant: AssistantRecord, baseUrl: string): CardContent {
    const { pushes, isProtected } = this.#options;
    return agentCard({ assistant, baseUrl, pushes, isProtected });
  }

  /**
   * Returns the card for the requested address, signed unless that is not known as the deployment's. Clients verify a
   * card as they understand it: those of 1.0 drop the fields of 0.3, so that a card with both has a signature of each
   * form.
   */
  async #sign({ headers, version }: CardRequest, cardAt: (baseUrl: string) => CardContent): Promise<object> {
    const { signer, addresses } = this.#options;
    const { baseUrl, isOwn } = addresses.find(headers);
    const card = cardAt(baseUrl);
    const forms = version === '1.0' ? [card] : [card, hybridCard(card)];
    const sent = forms.at(-1)!;
    if (!isOwn) return sent;
    const keysUrl = `${baseUrl}${CARD_KEYS_PATH}`;
    return { ...sent, signatures: await Promise.all(forms.map((form) => signer.sign(form, keysUrl))) };
  }
}
