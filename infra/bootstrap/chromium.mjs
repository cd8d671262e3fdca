import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { StepError, say } from './steps.mjs';

/** The one without windows is first: it takes a quarter of the processor time of the whole browser. */
const PROGRAMS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** Debian's packages, the best first. Older releases lack the first. */
const PACKAGES = ['chromium-headless-shell', 'chromium'];
const PLACES = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];
export const HOW_TO_INSTALL =
  'The tests need Chromium: install the package `chromium-headless-shell` or `chromium` of your system, or name a ' +
  'browser in RUNYARD_TEST_CHROMIUM.';

/** Returns the path of the browser of the tests: the one that the environment names, or one of the PATH. */
export function findChromium(environment = process.env) {
  const named = environment.RUNYARD_TEST_CHROMIUM;
  if (named) return isProgram(named) ? named : undefined;
  const folders = (environment.PATH ?? '').split(delimiter).filter(Boolean);
  return [...folders.flatMap((folder) => PROGRAMS.map((name) => join(folder, name))), ...PLACES].find(isProgram);
}

/**
 * Finds a Chromium, or installs that of Debian, which only root can do.
 *
 * @throws StepError with what to install, where neither works
 */
export function ensureChromium() {
  if (findChromium()) return;
  const mayInstall = process.getuid?.() === 0 && !process.env.RUNYARD_TEST_CHROMIUM;
  if (!mayInstall || !hasApt()) throw new StepError(HOW_TO_INSTALL);
  say('Installing Chromium for the tests, once');
  let failure = apt('update');
  for (const name of PACKAGES) {
    if (findChromium()) break;
    failure = apt('install', '--yes', '--no-install-recommends', name);
  }
  if (!findChromium()) throw new StepError([HOW_TO_INSTALL, failure].filter(Boolean).join('\n'));
}

/** Returns the last lines of what apt-get printed when it failed. */
function apt(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status, error, stdout, stderr } = spawnSync('apt-get', ['--quiet', ...args], { encoding: 'utf8', env });
  if (status === 0) return undefined;
  return error?.message ?? `${stdout}${stderr}`.trimEnd().split('\n').slice(-5).join('\n');
}

function hasApt() {
  return spawnSync('apt-get', ['--version']).status === 0;
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
