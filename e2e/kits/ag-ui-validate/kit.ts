import path from 'node:path';
import type { Check, Kit } from '../kit.ts';
import { runPython } from '../run-program.ts';

/** Agents that answer, call tools, ask, fail, and pass messages of graphs inside on. */
const AGENTS = ['echo', 'chat', 'weather', 'office', 'approval', 'boom', 'kit', 'page'];
const REQUIREMENTS = path.join(import.meta.dirname, 'requirements.txt');

/** The output of ag-ui-validate with `--json`. */
interface Report {
  diagnostics: { rule: string; severity: 'error' | 'warning' | 'info'; message: string }[];
}

/** The stream of a run of each agent, by the rules of ag-ui-validate. What it calls information is no failure. */
export const agUiValidate: Kit = {
  name: 'ag-ui-validate',
  knownFailures: {},
  async run({ apiKey, deploymentUrl }) {
    const checks: Check[] = [];
    for (const agent of AGENTS) {
      const header = ['--header', `x-api-key: ${apiKey}`];
      const args = ['-m', 'ag_ui_validate.cli', `${deploymentUrl}/agui/${agent}`, ...header, '--json'];
      const { code, output } = await runPython({ requirements: REQUIREMENTS, args });
      if (code !== 0 && code !== 1) throw new Error(`ag-ui-validate ended with ${code}\n${output}`);
      const { diagnostics } = JSON.parse(output) as Report;
      const faults = diagnostics.filter(({ severity }) => severity !== 'info');
      const detail = faults.map(({ rule, message }) => `${rule}: ${message}`).join('\n');
      checks.push({ name: agent, outcome: faults.length > 0 ? 'failed' : 'passed', detail });
    }
    return checks;
  },
};
