import { expect, it } from 'vitest';
import { parseRunEnd } from './run-end.ts';

it('cuts the values out of the text', () => {
  expect(parseRunEnd('{"status":"success","values":{"a":[1,{"b":"}"}]}}')).toEqual({
    status: 'success',
    values: '{"a":[1,{"b":"}"}]}',
  });
});

it('knows an end without values', () => {
  expect(parseRunEnd('{"status":"interrupted"}')).toEqual({ status: 'interrupted' });
});

it('knows the end of a run that was rolled back, and what it had come to', () => {
  expect(parseRunEnd('{"rolled_back":true,"status":"interrupted","values":{"a":1}}')).toEqual({
    status: 'interrupted',
    values: '{"a":1}',
    isRolledBack: true,
  });
});

it('reads any other order of fields too', () => {
  expect(parseRunEnd('{"values":{"a":1},"status":"success"}')).toEqual({ status: 'success', values: '{"a":1}' });
});
