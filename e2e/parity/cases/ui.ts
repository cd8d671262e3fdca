import { expect } from 'vitest';
import { fieldCase, statusCase } from '../framework/index.ts';

const params = { agent: 'echo' };

export const cases = [
  fieldCase({
    operations: ['getUi'],
    field: 'body.name',
    promise: 'the component that is named is shown once its script is there',
    run: async ({ call }) => {
      const { text } = await call('getUi', { params, body: { name: 'counter' } });
      expect(text).toContain(`onload='__LGUI_echo.render("counter", "{{shadowRootId}}")'`);
    },
  }),
  statusCase({
    operation: 'getUi',
    status: 200,
    promise: 'files are named by URLs that a page elsewhere can load without a key',
    run: async ({ call }) => {
      const answer = await call('getUi', { params, body: { name: 'counter' } });
      const urls = [...answer.text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, url]) => new URL(url!, 'http://page/'));
      expect(urls.map(({ pathname }) => pathname.split('/').at(-1))).toEqual(['entrypoint.css', 'entrypoint.js']);
      for (const url of urls) expect((await fetch(url)).status).toBe(200);
      return answer;
    },
  }),
  statusCase({
    operation: 'getUiFile',
    status: 200,
    promise: 'the script defines what renders the components',
    run: async ({ call }) => {
      const answer = await call('getUiFile', { params: { ...params, basename: 'entrypoint.js' } });
      expect(answer.text).toContain('var __LGUI_echo = ');
      return answer;
    },
  }),
];
