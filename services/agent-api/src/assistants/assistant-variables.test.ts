import { expect, it } from 'vitest';
import { readAssistantVariables } from './assistant-variables.ts';

it('LANGGRAPH_CONFIG configures default assistants by graph', () => {
  const LANGGRAPH_CONFIG = '{"echo": {"recursion_limit": 7, "configurable": {"a": 1}}, "chat": {"context": {"b": 2}}}';
  expect(readAssistantVariables({ LANGGRAPH_CONFIG, LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS: '500' })).toEqual({
    defaults: {
      echo: { config: { recursion_limit: 7, configurable: { a: 1 } } },
      chat: { config: {}, context: { b: 2 } },
    },
    schemaTimeoutMs: 500,
  });
  expect(readAssistantVariables({})).toEqual({ defaults: {}, schemaTimeoutMs: 30_000 });
});

it('each wrong variable is reported in a sentence', () => {
  expect(() => readAssistantVariables({ LANGGRAPH_CONFIG: '{' })).toThrow('LANGGRAPH_CONFIG must be valid JSON');
  expect(() => readAssistantVariables({ LANGGRAPH_CONFIG: '{"echo": {"recursion_limit": "x"}}' })).toThrow(
    /LANGGRAPH_CONFIG/,
  );
  const both = '{"echo": {"configurable": {"a": 1}, "context": {"b": 2}}}';
  expect(() => readAssistantVariables({ LANGGRAPH_CONFIG: both })).toThrow(
    'gives "echo" both configurable and context',
  );
});
