import type { IncomingHttpHeaders } from 'node:http';
import { BadRequestError } from '@runyard/service-kit';
import type { Scope } from '../../access/scope.ts';
import type { AssistantRecord } from '../../assistants/assistant-record.ts';
import type { AssistantService } from '../../assistants/assistant-service.ts';
import type { A2aVersion } from '../protocol/versions.ts';
import type { MessageSupport } from '../tasks/message-support.ts';
import { agentCard, type CardContent, extendedCard, hybridCard } from './agent-card.ts';
import type { CardSigner } from './card-signer.ts';
import type { OwnAddresses } from './own-addresses.ts';

export interface AgentCardsOptions {
  assistants: Pick<AssistantService, 'find'>;
  support: Pick<MessageSupport, 'inputSchema'>;
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

export const CARD_KEYS_PATH = '/.well-known/agent-card-keys.json';

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
      throw new BadRequestError(
        `Missing required query parameter: assistant_id. It may be one of ${graphIds.join(', ')}`,
      );
    }
    return this.#sign(this.#contentOf(await assistants.find(publicScope, named), request), request);
  }

  /** Returns the card for a caller who may see the assistant. */
  async extendedCard(assistant: AssistantRecord, request: CardRequest): Promise<object> {
    const schema = await this.#options.support.inputSchema(assistant);
    return this.#sign(extendedCard(this.#contentOf(assistant, request), schema), request);
  }

  #contentOf(assistant: AssistantRecord, { headers }: CardRequest): CardContent {
    const { addresses, pushes, isProtected } = this.#options;
    const { baseUrl } = addresses.find(headers);
    return agentCard({ assistant, baseUrl, pushes, isProtected });
  }

  /**
   * Signs the card, unless it names an address that is not known as the deployment's. Clients verify a card as they
   * understand it: those of 1.0 drop the fields of 0.3, so that a card with both has a signature of each form.
   */
  async #sign(card: CardContent, { headers, version }: CardRequest): Promise<object> {
    const { signer, addresses } = this.#options;
    const { baseUrl, isOwn } = addresses.find(headers);
    const keysUrl = `${baseUrl}${CARD_KEYS_PATH}`;
    const hybrid = hybridCard(card);
    if (!isOwn) return version === '1.0' ? card : hybrid;
    const signature = await signer.sign(card, keysUrl);
    if (version === '1.0') return { ...card, signatures: [signature] };
    return { ...hybrid, signatures: [signature, await signer.sign(hybrid, keysUrl)] };
  }
}
