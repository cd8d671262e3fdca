import type { AgentCard } from '@runyard/contracts';
import type { AssistantRecord } from '../../assistants/assistant-record.ts';
import { HISTORY_SCOPE_EXTENSION } from '../protocol/history-scope.ts';
import { mediaTypesOf } from '../tasks/media-types.ts';

/** An unsigned card. */
export type CardContent = Omit<AgentCard, 'signatures'>;

export interface CardFacts {
  assistant: AssistantRecord;
  /** The address by which the client reaches the deployment. */
  baseUrl: string;
  /** True when the deployment sends push notifications. */
  pushes: boolean;
  /** True when callers need a credential. */
  isProtected: boolean;
}

/** Returns the card of an assistant in the form of A2A 1.0. */
export function agentCard({ assistant, baseUrl, pushes, isProtected }: CardFacts): CardContent {
  const { assistantId, name, version, metadata } = assistant;
  const url = `${baseUrl}/a2a/${assistantId}`;
  const description = assistant.description || `The assistant ${name}`;
  const media = mediaTypesOf(metadata);
  return {
    name,
    description,
    version: String(version),
    supportedInterfaces: [
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { url, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
    ],
    capabilities: {
      streaming: true,
      pushNotifications: pushes,
      extendedAgentCard: true,
      extensions: [
        {
          uri: HISTORY_SCOPE_EXTENSION,
          description: 'Whether the history of a task shows its own messages or those of its whole context.',
          required: false,
        },
      ],
    },
    defaultInputModes: media.input,
    defaultOutputModes: media.output,
    skills: [{ id: assistantId, name, description, tags: ['assistant'] }],
    ...(isProtected && {
      securitySchemes: {
        apiKey: { apiKeySecurityScheme: { location: 'header', name: 'X-Api-Key' } },
        bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
      },
      securityRequirements: [{ schemes: { apiKey: { list: [] } } }, { schemes: { bearer: { list: [] } } }],
    }),
  };
}

/** Adds what callers with a credential see: the schema of the input, as a skill. */
export function extendedCard(card: CardContent, schema: Record<string, unknown> | undefined): CardContent {
  if (!schema) return card;
  const skill = {
    id: 'structured-input',
    name: 'Structured input',
    description: `Takes a data part of this JSON schema: ${JSON.stringify(schema)}`,
    tags: ['data'],
    inputModes: ['application/json'],
  };
  return { ...card, skills: [...card.skills, skill] };
}

/**
 * Returns the card with the fields of 0.3 beside those of 1.0: clients of both read it. Security schemes, which both call
 * by one name, have the fields of both.
 */
export function hybridCard(card: CardContent): CardContent & Record<string, unknown> {
  const { securitySchemes: schemes } = card;
  const { url } = card.supportedInterfaces[0]!;
  return {
    ...card,
    protocolVersion: '0.3.0',
    url,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [
      { url, transport: 'JSONRPC' },
      { url, transport: 'HTTP+JSON' },
    ],
    supportsAuthenticatedExtendedCard: true,
    capabilities: { ...card.capabilities, stateTransitionHistory: false },
    ...(schemes && {
      securitySchemes: {
        apiKey: { ...schemes.apiKey, type: 'apiKey', in: 'header', name: 'X-Api-Key' },
        bearer: { ...schemes.bearer, type: 'http', scheme: 'Bearer' },
      },
      security: [{ apiKey: [] }, { bearer: [] }],
    }),
  };
}
