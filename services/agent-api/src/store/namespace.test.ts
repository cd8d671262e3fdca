import { BadRequestError, UnprocessableError } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { itemNamespace, queryNamespace } from './namespace.ts';

it('refuses labels that are empty or hold a period', () => {
  expect(() => itemNamespace(['a.b'])).toThrow(UnprocessableError);
  expect(() => itemNamespace(['a', ''])).toThrow(UnprocessableError);
});

it('refuses an empty namespace and the one LangGraph keeps for itself', () => {
  expect(() => itemNamespace([])).toThrow(BadRequestError);
  expect(() => itemNamespace(undefined)).toThrow(BadRequestError);
  expect(() => itemNamespace(['langgraph', 'a'])).toThrow(BadRequestError);
  expect(itemNamespace(['a', 'langgraph'])).toEqual(['a', 'langgraph']);
});

it('takes a namespace joined by periods or as a repeated parameter', () => {
  expect(queryNamespace('a.b')).toEqual(['a', 'b']);
  expect(queryNamespace(['a', 'b'])).toEqual(['a', 'b']);
});
