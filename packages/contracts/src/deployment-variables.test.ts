import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DEPLOYMENT_VARIABLES, TUNABLE_VARIABLES, translateVariables } from './deployment-variables.ts';

const translate = (environment: Record<string, string>) => translateVariables(environment).environment;

describe('variables of agent servers', () => {
  it("set Runyard's variables, unless those are set", () => {
    expect(translate({ POSTGRES_URI: 'a', LANGGRAPH_POSTGRES_POOL_MAX_SIZE: '5' })).toMatchObject({
      DATABASE_URI: 'a',
      DATABASE_POOL_SIZE: '5',
    });
    expect(translate({ POSTGRES_URI: 'a', DATABASE_URI: 'b' }).DATABASE_URI).toBe('b');
    expect(translate({ POSTGRES_URI: '', DATABASE_URI: 'b' }).DATABASE_URI).toBe('b');
    expect(translate({ LANGGRAPH_SERVER_PORT: '1', PORT: '2' }).PORT).toBe('2');
  });

  it('win over everything when they are named as custom', () => {
    const all = {
      POSTGRES_URI: 'a',
      DATABASE_URI: 'b',
      POSTGRES_URI_CUSTOM: 'c',
      REDIS_URI: 'd',
      REDIS_URI_CUSTOM: 'e',
    };
    expect(translate(all)).toMatchObject({ DATABASE_URI: 'c', REDIS_URI: 'e' });
  });

  it('are accepted in all their forms', () => {
    expect(translate({ LANGGRAPH_SERVER_HOST: '[::1]' }).HOST).toBe('::1');
    expect(translate({ HOST: '[::]' }).HOST).toBe('::');
    expect(translate({ LOG_LEVEL: 'WARNING' }).LOG_LEVEL).toBe('warn');
    expect(translate({ LOG_LEVEL: 'INFO' }).LOG_LEVEL).toBe('info');
    expect(translate({ LOG_LEVEL: 'CRITICAL' }).LOG_LEVEL).toBe('error');
  });

  it('are reported, each in a sentence, when they ask for a change and have no effect', () => {
    const { warnings } = translateVariables({
      DD_API_KEY: 'k',
      REDIS_CLUSTER: 'false',
      BG_JOB_ISOLATED_LOOPS: 'True',
      MONGODB_URI: '',
    });
    expect(warnings).toEqual([
      'The variable BG_JOB_ISOLATED_LOOPS has no effect on the platform: runs of a Python project share an event loop, and while one blocks it, others start in another process.',
      expect.stringMatching(/^The variable DD_API_KEY has no effect on the platform: nothing is sent to Datadog/),
    ]);
  });

  it('are all in the documentation', () => {
    const page = pageOf('agent-api/variables');
    const missing = DEPLOYMENT_VARIABLES.filter(({ name }) => !page.includes(`\`${name}\``));
    expect(missing).toEqual([]);
  });

  it('which a deployment may choose itself are those on the page of the control plane', () => {
    const tuning = pageOf('control-plane/secrets').match(/tune the platform's part of the deployment: (.*?)\./s)?.[1];
    const named = [...(tuning ?? '').matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name);
    const isNoEffect = (name: string) => DEPLOYMENT_VARIABLES.some((v) => v.name === name && 'noEffect' in v);
    expect(named).toEqual(TUNABLE_VARIABLES.filter((name) => !isNoEffect(name)));
  });
});

function pageOf(service: string): string {
  return readFileSync(new URL(`../../../docs/services/${service}.md`, import.meta.url), 'utf8');
}
