import { expect, it } from 'vitest';
import { passedOn } from './passed-on.ts';

it('control-plane reaches the container engine that whoever starts the platform has named, and gets nothing else', () => {
  const engine = {
    DOCKER_HOST: 'unix:///run/user/1000/docker.sock',
    CONTAINER_NETWORK: 'host',
    CONTAINER_ENGINE_COMMAND: 'podman',
  };
  expect(
    passedOn({ ...engine, DOCKER_CONTEXT: '', OPENAI_API_KEY: 'secret', DATABASE_URI: 'postgres://else' }),
  ).toEqual(engine);
});
