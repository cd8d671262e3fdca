import type { Assistant, AssistantVersion } from '@runyard/contracts';
import { toWireTime } from '../http/wire-time.ts';
import type { AssistantConfiguration } from './assistant-configuration.ts';

/** The content that each version of an assistant has of its own. */
export interface AssistantContent extends AssistantConfiguration {
  graphId: string;
  name: string;
  description: string | null;
  metadata: Record<string, unknown>;
}

export interface AssistantVersionRecord extends AssistantContent {
  assistantId: string;
  version: number;
  createdAt: Date;
}

export interface AssistantRecord extends AssistantVersionRecord {
  isSystem: boolean;
  /** The project's settings of a graph's default assistant as they were last applied. */
  projectSettings: unknown;
  updatedAt: Date;
}

export function toWireAssistant(record: AssistantRecord): Assistant {
  return { ...toWireVersion(record), updated_at: toWireTime(record.updatedAt) };
}

export function toWireVersion(record: AssistantVersionRecord): AssistantVersion {
  return {
    assistant_id: record.assistantId,
    graph_id: record.graphId,
    name: record.name,
    description: record.description,
    config: record.config,
    context: record.context,
    metadata: record.metadata,
    version: record.version,
    created_at: toWireTime(record.createdAt),
  };
}
