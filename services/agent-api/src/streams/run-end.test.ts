import { expect, it } from 'vitest';
import { parseRunEnd } from './run-end.ts';

it('an end event has its values cut out of the text', () => {
  expect(parseRunEnd('{"status":"success","values":{"a":[1,{"b":"}"}]}}')).toEqual({
    status: 'success',
    values: '{"a":[1,{"b":"}"}]}',
  });
});

it('an end event may have no values', () => {
  expect(parseRunEnd('{"status":"interrupted"}')).toEqual({ status: 'interrupted' });
});

it("an end event of a run that was rolled back has the run's last values", () => {
  expect(parseRunEnd('{"rolled_back":true,"status":"interrupted","values":{"a":1}}')).toEqual({
    status: 'interrupted',
    values: '{"a":1}',
    isRolledBack: true,
  });
});

it('an end event says when the run waits for an answer', () => {
  expect(parseRunEnd('{"waits_for_input":true,"status":"success","values":{"a":1}}')).toEqual({
    status: 'success',
    values: '{"a":1}',
    isWaiting: true,
  });
});

it('an end event is read in any other order of fields too', () => {
  expect(parseRunEnd('{"values":{"a":1},"status":"success"}')).toEqual({ status: 'success', values: '{"a":1}' });
});
