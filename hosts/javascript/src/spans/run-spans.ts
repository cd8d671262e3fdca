/**
 * Makes the spans of a run from the callbacks of LangChain: the graph, its nodes, and every call of a model or a tool,
 * each below the one that it happened in. Other chains are left out; what they call is below the nearest span.
 */
import type { ExecutionRequest, RunSpan } from '@runyard/host-protocol/graph-process';
import { isBubbleUp } from '../events/task-errors.ts';
import { type ChatMessage, roleOf, writeInstructions, writeMessages, writeValue } from './message-content.ts';
import { readModelAnswer, readModelCall } from './model-attributes.ts';
import type { OpenSpan, SpanRecorder } from './span-recorder.ts';

type Fields = Record<string, unknown>;

const HIDDEN = 'langsmith:hidden';
const STEP_TAG = /^graph:step:(\d+)$/;

export class RunSpans {
  readonly #request: ExecutionRequest;
  readonly #recorder: SpanRecorder;
  readonly #rootParentId: string;
  /** The open span of each callback run; for those without one, the id of the span they are in. */
  readonly #runs = new Map<string, { span?: OpenSpan; spanId: string }>();
  #root: OpenSpan | undefined;

  constructor(request: ExecutionRequest, parentSpanId: string, recorder: SpanRecorder) {
    this.#request = request;
    this.#rootParentId = parentSpanId;
    this.#recorder = recorder;
  }

  /** A LangChain callback handler of any line: it has a name, so that LangChain takes it as it is. */
  readonly handler = {
    name: 'runyard-spans',
    // Started out of turn, a child would be begun before its parent.
    awaitHandlers: true,
    handleChainStart: (
      _chain: unknown,
      _inputs: unknown,
      runId: string,
      parentRunId?: string,
      tags?: string[],
      metadata?: Fields,
      _runType?: string,
      runName?: string,
    ): void => {
      if (!this.#root) this.#startRoot(runId);
      else if (isNode(runName, tags, metadata)) this.#startNode(runId, parentRunId, runName as string, tags);
      else this.#runs.set(runId, { spanId: this.#parentOf(parentRunId) });
    },
    handleChainEnd: (_outputs: unknown, runId: string): void => this.#end(runId),
    handleChainError: (error: unknown, runId: string): void => this.#end(runId, error),

    handleChatModelStart: (
      _model: unknown,
      messages: ChatMessage[][],
      runId: string,
      parentRunId?: string,
      extraParams?: Fields,
      _tags?: string[],
      metadata?: Fields,
    ): void => {
      const span = this.#startModel('chat', runId, parentRunId, extraParams, metadata);
      const sent = messages[0] ?? [];
      const isInstruction = (message: ChatMessage) => roleOf(message) === 'system';
      span.setContent('gen_ai.system_instructions', () => writeInstructions(sent.filter(isInstruction)));
      span.setContent('gen_ai.input.messages', () => writeMessages(sent.filter((message) => !isInstruction(message))));
    },
    handleLLMStart: (
      _model: unknown,
      prompts: string[],
      runId: string,
      parentRunId?: string,
      extraParams?: Fields,
      _tags?: string[],
      metadata?: Fields,
    ): void => {
      const span = this.#startModel('text_completion', runId, parentRunId, extraParams, metadata);
      span.setContent('gen_ai.input.messages', () =>
        writeMessages(prompts.map((content) => ({ role: 'user', content }))),
      );
    },
    handleLLMEnd: (output: unknown, runId: string): void => {
      const span = this.#runs.get(runId)?.span;
      if (!span) return;
      const { attributes, messages, finishReason } = readModelAnswer(output);
      span.setAttributes(attributes);
      span.setContent('gen_ai.output.messages', () => writeMessages(messages, finishReason));
      this.#end(runId);
    },
    handleLLMError: (error: unknown, runId: string): void => this.#end(runId, error),

    handleToolStart: (
      tool: unknown,
      input: string,
      runId: string,
      parentRunId?: string,
      _tags?: string[],
      _metadata?: Fields,
      runName?: string,
      toolCallId?: string,
    ): void => {
      const name = runName ?? (tool as { name?: string } | undefined)?.name ?? 'tool';
      const span = this.#start(runId, parentRunId, `execute_tool ${name}`, 'internal', {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'gen_ai.tool.type': 'function',
        ...(typeof toolCallId === 'string' && { 'gen_ai.tool.call.id': toolCallId }),
      });
      span.setContent('gen_ai.tool.call.arguments', () => writeValue(input));
    },
    handleToolEnd: (output: unknown, runId: string): void => {
      const span = this.#runs.get(runId)?.span;
      const { tool_call_id: id, content = output } = (output ?? {}) as { tool_call_id?: unknown; content?: unknown };
      if (typeof id === 'string') span?.setAttributes({ 'gen_ai.tool.call.id': id });
      span?.setContent('gen_ai.tool.call.result', () => writeValue(content));
      this.#end(runId);
    },
    handleToolError: (error: unknown, runId: string): void => this.#end(runId, error),
  };

  #startRoot(runId: string): void {
    const { graphId, assistantId, threadId, attempt, runId: ownRunId } = this.#request;
    this.#root = this.#recorder.start({
      name: `invoke_agent ${graphId}`,
      kind: 'internal',
      parentSpanId: this.#rootParentId,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': graphId,
        'gen_ai.agent.id': assistantId,
        'gen_ai.conversation.id': threadId,
        'session.id': threadId,
        'runyard.run.id': ownRunId,
        'runyard.run.attempt': attempt,
      },
    });
    this.#runs.set(runId, { span: this.#root, spanId: this.#root.spanId });
  }

  #startNode(runId: string, parentRunId: string | undefined, name: string, tags: string[] | undefined): void {
    const step = tags?.map((tag) => STEP_TAG.exec(tag)?.[1]).find((found) => found !== undefined);
    this.#start(runId, parentRunId, `node ${name}`, 'internal', {
      'langgraph.node': name,
      ...(step !== undefined && { 'langgraph.step': Number(step) }),
    });
  }

  #startModel(
    operation: 'chat' | 'text_completion',
    runId: string,
    parentRunId: string | undefined,
    extraParams: Fields | undefined,
    metadata: Fields | undefined,
  ): OpenSpan {
    const { model, attributes } = readModelCall(operation, extraParams, metadata);
    const name = model === undefined ? operation : `${operation} ${model}`;
    return this.#start(runId, parentRunId, name, 'client', attributes);
  }

  #start(
    runId: string,
    parentRunId: string | undefined,
    name: string,
    kind: RunSpan['kind'],
    attributes: RunSpan['attributes'],
  ): OpenSpan {
    const span = this.#recorder.start({ name, kind, parentSpanId: this.#parentOf(parentRunId), attributes });
    this.#runs.set(runId, { span, spanId: span.spanId });
    return span;
  }

  #parentOf(parentRunId: string | undefined): string {
    const parent = parentRunId === undefined ? undefined : this.#runs.get(parentRunId);
    return parent?.spanId ?? this.#root?.spanId ?? this.#rootParentId;
  }

  #end(runId: string, error?: unknown): void {
    const span = this.#runs.get(runId)?.span;
    this.#runs.delete(runId);
    if (span === this.#root && this.#recorder.dropped > 0) {
      span?.setAttributes({ 'runyard.run.dropped_spans': this.#recorder.dropped });
    }
    if (isBubbleUp(error)) span?.setAttributes({ 'langgraph.interrupted': true });
    span?.end(error === undefined || isBubbleUp(error) ? undefined : describeError(error));
  }
}

/** Returns whether a chain is a node of a graph: what runs inside a node has its metadata too, but not its name. */
function isNode(runName: string | undefined, tags: string[] = [], metadata: Fields = {}): boolean {
  return runName !== undefined && runName === metadata.langgraph_node && hasStep(tags) && !tags.includes(HIDDEN);
}

function hasStep(tags: readonly string[]): boolean {
  return tags.some((tag) => STEP_TAG.test(tag));
}

function describeError(error: unknown): NonNullable<RunSpan['error']> {
  if (!(error instanceof Error)) return { type: '_OTHER', message: writeValue(error) };
  return { type: error.name || error.constructor.name, message: writeValue(error.message) };
}
