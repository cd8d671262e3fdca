import path from 'node:path';
import { startKeyProxy } from '../../harness/key-proxy.ts';
import type { Check, Kit } from '../kit.ts';
import { runPython } from '../run-program.ts';

const AGENTS = ['kit', 'weather', 'office', 'echo'];
const REQUIREMENTS = path.join(import.meta.dirname, 'requirements.txt');

/** The output of a2a-lint with `--json`. `info` is advice. */
interface Report {
  findings: { level: 'error' | 'warn' | 'info'; field: string; message: string }[];
}

/** Cards of agents, and a message and a stream of each, by the rules of a2a-lint. It knows A2A 0.3. */
export const a2aLint: Kit = {
  name: 'a2a-lint',
  knownFailures: {},
  async run({ url, apiKey, deploymentUrl }) {
    // It has no option for headers.
    const proxy = await startKeyProxy(url, apiKey);
    try {
      const checks: Check[] = [];
      for (const agent of AGENTS) {
        const base = `${proxy.url}${new URL(deploymentUrl).pathname}/a2a/${agent}`;
        const args = ['-m', 'a2a_lint.cli', base, '--live', '--json'];
        const { code, output } = await runPython({ requirements: REQUIREMENTS, args });
        if (code === 2 || code === null) throw new Error(`a2a-lint found no agent\n${output}`);
        const { findings } = JSON.parse(output) as Report;
        const faults = findings.filter(({ level }) => level !== 'info');
        const detail = faults.map(({ field, message }) => `${field}: ${message}`).join('\n');
        checks.push({ name: agent, outcome: faults.length > 0 ? 'failed' : 'passed', detail });
      }
      return checks;
    } finally {
      await proxy.close();
    }
  },
};
