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

it('reads any other order of fields too', () => {
  expect(parseRunEnd('{"values":{"a":1},"status":"success"}')).toEqual({ status: 'success', values: '{"a":1}' });
});
