import type { SsoCheck, SsoTestResult } from '@runyard/contracts';
import { Time } from '../../../components/time.tsx';

const OUTCOMES: Record<SsoCheck['outcome'], { sign: string; word: string; colour: string }> = {
  passed: { sign: '✓', word: 'passed', colour: 'text-good' },
  warning: { sign: '●', word: 'to look at', colour: 'text-wait' },
  failed: { sign: '✕', word: 'failed', colour: 'text-fault' },
  skipped: { sign: '○', word: 'skipped', colour: 'text-faint' },
};
const CHECKS: Record<SsoCheck['check'], string> = {
  discovery: 'Discovery',
  endpoints: 'Addresses',
  keys: 'Keys',
  client: 'Client and secret',
  metadata: 'Metadata',
  sign_in: 'Sign-in',
  certificates: 'Certificates',
  domains: 'Domains',
};

/** The checks of an identity provider, each with its sentence. */
export function TestResult({ result: { ok, checks, tested_at: at } }: { result: SsoTestResult }) {
  return (
    <div className="flex min-w-0 flex-col gap-2 rounded border border-line bg-ground p-3">
      <p className={`font-semibold ${ok ? 'text-good' : 'text-fault'}`}>
        {ok ? '✓ The provider works, as far as can be seen from here' : '✕ The provider does not work'}{' '}
        <span className="font-normal text-faint">
          <Time at={at} />
        </span>
      </p>
      <ul className="flex flex-col gap-1">
        {checks.map(({ check, outcome, detail }) => (
          <li key={check} className="flex min-w-0 flex-wrap gap-x-2">
            <span className={`whitespace-nowrap ${OUTCOMES[outcome].colour}`}>
              <span aria-hidden="true">{OUTCOMES[outcome].sign}</span> {CHECKS[check]} {OUTCOMES[outcome].word}
            </span>
            <span className="min-w-0 [overflow-wrap:anywhere]">{detail}</span>
          </li>
        ))}
      </ul>
      {ok && <p className="text-faint">The rest shows a first sign-in: begin it in a private window.</p>}
    </div>
  );
}
