import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { findChromium } from './chromium.mjs';

const folder = mkdtempSync(join(tmpdir(), 'runyard-chromium-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('the browser of the tests is the one that the environment names, else the first one of the PATH', () => {
  const browser = join(folder, 'google-chrome');
  writeFileSync(browser, '#!/bin/sh\n');
  const environment = { PATH: ['/nowhere', folder].join(delimiter) };
  expect(findChromium(environment)).not.toBe(browser);
  chmodSync(browser, 0o755);
  expect(findChromium(environment)).toBe(browser);
  expect(findChromium({ ...environment, RUNYARD_TEST_CHROMIUM: process.execPath })).toBe(process.execPath);
  expect(findChromium({ ...environment, RUNYARD_TEST_CHROMIUM: '/nowhere/chromium' })).toBeUndefined();
});
