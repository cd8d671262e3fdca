import { BadRequestError, UnprocessableError } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { requireItemNamespace } from './namespace.ts';

it('a namespace with an empty label, or one with a period, is refused', () => {
  expect(() => requireItemNamespace(['a.b'])).toThrow(UnprocessableError);
  expect(() => requireItemNamespace(['a', ''])).toThrow(UnprocessableError);
});

it('an empty namespace and the one that LangGraph keeps for itself are refused', () => {
  expect(() => requireItemNamespace([])).toThrow(BadRequestError);
  expect(() => requireItemNamespace(undefined)).toThrow(BadRequestError);
  expect(() => requireItemNamespace(['langgraph', 'a'])).toThrow(BadRequestError);
  expect(requireItemNamespace(['a', 'langgraph'])).toEqual(['a', 'langgraph']);
});
