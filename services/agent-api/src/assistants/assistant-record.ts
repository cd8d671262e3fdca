import type { Assistant } from '@runyard/contracts';
import { toWireTime } from '../wire-time.ts';

/** A row of `assistant`. */
export interface AssistantRecord {
  assistantId: string;
  graphId: string;
  name: string;
  description: string | null;
  config: unknown;
  context: unknown;
  metadata: unknown;
  version: number;
  isSystem: boolean;
  createdAt: Date;
  updatedAt: Date;
}

export function toWireAssistant(record: AssistantRecord): Assistant {
  return {
    assistant_id: record.assistantId,
    graph_id: record.graphId,
    name: record.name,
    description: record.description,
    config: record.config as Assistant['config'],
    context: record.context as Assistant['context'],
    metadata: record.metadata as Assistant['metadata'],
    version: record.version,
    created_at: toWireTime(record.createdAt),
    updated_at: toWireTime(record.updatedAt),
  };
}
