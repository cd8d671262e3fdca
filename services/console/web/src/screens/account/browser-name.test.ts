import { expect, it } from 'vitest';
import { browserName } from './browser-name.ts';

it('a browser is known by its own name, not by those of which it says that it is like them', () => {
  const edge =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0 Safari/537.36 Edg/125.0';
  expect(browserName(edge)).toBe('Edge on Windows');
  expect(browserName('Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Version/17.5 Safari/604.1')).toBe(
    'Safari on iOS',
  );
});

it('a program is shown as it calls itself', () => {
  expect(browserName('langsmith-cli/0.1')).toBe('langsmith-cli/0.1');
  expect(browserName(null)).toBe('An unknown browser');
});
