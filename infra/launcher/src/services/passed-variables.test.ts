import { expect, it } from 'vitest';
import { selectPassedVariables } from './passed-variables.ts';

it('data-plane runs deployments as the person who starts the platform says, and gets nothing else', () => {
  const engine = {
    DRIVER: 'process',
    DOCKER_HOST: 'unix:///run/user/1000/docker.sock',
    CONTAINER_NETWORK: 'host',
    CONTAINER_ENGINE_COMMAND: 'podman',
  };
  expect(
    selectPassedVariables('data-plane', {
      ...engine,
      DOCKER_CONTEXT: '',
      PIP_INDEX_URL: 'https://packages.example.com/simple',
      OPENAI_API_KEY: 'secret',
      DATABASE_URI: 'postgres://else',
    }),
  ).toEqual(engine);
});

it('builders find packages where the person who starts the platform says, and get nothing else', () => {
  const packages = {
    PIP_INDEX_URL: 'https://packages.example.com/simple',
    RUNYARD_PYTHONS: '/opt/python3.13/bin/python3',
  };
  expect(selectPassedVariables('builder', { ...packages, DRIVER: 'process', OPENAI_API_KEY: 'secret' })).toEqual(
    packages,
  );
});

it('run-history keeps runs for as long as the person who starts the platform says, and gets nothing else', () => {
  const retention = { RUN_HISTORY_RETENTION_DAYS: '90', RUN_HISTORY_RUNS_PER_DEPLOYMENT_MAX: '1000' };
  expect(
    selectPassedVariables('run-history', {
      ...retention,
      RUN_HISTORY_MINUTES_RETENTION_DAYS: '',
      DATABASE_URI: 'postgres://else',
    }),
  ).toEqual(retention);
});

it('the gateway counts failures to authenticate as the person who starts the platform has configured', () => {
  const limits = { RATE_LIMIT_FAILURES_RPS: '0' };
  expect(
    selectPassedVariables('gateway', { ...limits, RATE_LIMIT_FAILURES_BURST: '', REDIS_URI: 'redis://else' }),
  ).toEqual(limits);
});
