import { expect, it } from 'vitest';
import { at } from './path.ts';

it('an id is one segment of a path, whatever a project or a link says it is', () => {
  for (const id of ['../../../v2/deployments/other?', 'a/b', 'a?b', 'a#b', 'a\\b', '..%2Fa', 'a\tb', '.../x']) {
    const { text } = at`/deployments/${id}/threads`;
    const { pathname, search, hash } = new URL(text, 'http://console.invalid');
    expect([pathname, search, hash]).toEqual([text, '', '']);
    expect(text.split('/')).toHaveLength(4);
    expect(decodeURIComponent(text.split('/')[2]!)).toBe(id);
  }
});

it('an id that would be a step upwards, or nothing, is refused', () => {
  for (const id of ['.', '..', '']) expect(() => at`/deployments/${id}`).toThrow('is no id');
});

it('a path within a path stays as it is', () => {
  expect(at`${at`/deployments/${'a b'}`}/threads`.text).toBe('/deployments/a%20b/threads');
});
