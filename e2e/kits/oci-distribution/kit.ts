import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runProgram } from '@runyard/test-kit/python';
import { DOMParser } from '@xmldom/xmldom';
import { installGoProgram } from '../install-go-program.ts';
import type { Check, Kit } from '../kit.ts';
import { type Images, makeImages } from './images.ts';

const MODULE = 'github.com/opencontainers/distribution-spec/conformance';
const VERSION = 'v0.0.0-20260831232431-97274622c111';

/** The conformance suite of the OCI distribution specification 1.1, against the registry of images. */
export const ociDistribution: Kit = {
  name: 'oci-distribution',
  knownFailures: {},
  async run(platform) {
    const program = await installGoProgram(MODULE, VERSION);
    const images = await makeImages(platform);
    try {
      return await runSuite(program, images);
    } finally {
      await images.remove();
    }
  },
};

async function runSuite(program: string, { registryUrl, user, password }: Images): Promise<Check[]> {
  const results = await mkdtemp(path.join(tmpdir(), 'runyard-kit-'));
  const [registry, ...folders] = registryUrl.split('/');
  const variables = {
    OCI_VERSION: '1.1',
    OCI_REGISTRY: registry!,
    OCI_TLS: 'disabled',
    OCI_REPO1: [...folders, 'repo1'].join('/'),
    OCI_REPO2: [...folders, 'repo2'].join('/'),
    OCI_USERNAME: user,
    OCI_PASSWORD: password,
    OCI_RESULTS_DIR: results,
  };
  try {
    const { output } = await runProgram(program, [], { variables, cwd: results });
    const report = await readFile(path.join(results, 'junit.xml'), 'utf8').catch(() => undefined);
    if (report === undefined) throw new Error(`The suite left no report\n${output}`);
    return readReport(report);
  } finally {
    await rm(results, { recursive: true, force: true });
  }
}

const OUTCOMES: Readonly<Record<string, Check['outcome']>> = { passed: 'passed', skipped: 'skipped' };

function readReport(xml: string): Check[] {
  const cases = new DOMParser().parseFromString(xml, 'text/xml').getElementsByTagName('testcase');
  return Array.from(cases, (test) => ({
    name: test.getAttribute('name') ?? '',
    outcome: OUTCOMES[test.getAttribute('status') ?? ''] ?? 'failed',
    detail: test.getElementsByTagName('system-out')[0]?.textContent ?? '',
  }));
}
