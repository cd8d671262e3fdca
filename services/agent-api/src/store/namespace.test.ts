import { BadRequestError, UnprocessableError } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { itemNamespace, queryNamespace } from './namespace.ts';

it('a namespace with an empty label, or one with a period, is refused', () => {
  expect(() => itemNamespace(['a.b'])).toThrow(UnprocessableError);
  expect(() => itemNamespace(['a', ''])).toThrow(UnprocessableError);
});

it('an empty namespace and the one that LangGraph keeps for itself are refused', () => {
  expect(() => itemNamespace([])).toThrow(BadRequestError);
  expect(() => itemNamespace(undefined)).toThrow(BadRequestError);
  expect(() => itemNamespace(['langgraph', 'a'])).toThrow(BadRequestError);
  expect(itemNamespace(['a', 'langgraph'])).toEqual(['a', 'langgraph']);
});

it('a namespace is read from labels joined by periods or from a repeated parameter', () => {
  expect(queryNamespace('a.b')).toEqual(['a', 'b']);
  expect(queryNamespace(['a', 'b'])).toEqual(['a', 'b']);
});
