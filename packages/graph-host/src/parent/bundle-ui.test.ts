import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { GraphLoadError } from '../errors.ts';
import { bundleUi } from './bundle-ui.ts';

const directory = fileURLToPath(new URL('../../fixtures/components', import.meta.url));

function bundle(files: Record<string, string>, { shared = ['badges'], signal = new AbortController().signal } = {}) {
  const environment = { PATH: process.env.PATH ?? '' };
  return bundleUi({ ui: { files, shared }, directory, environment, onLog: () => {}, signal });
}

describe('components of a project', () => {
  it('are bundled with their styles; react and shared modules come from the page', async () => {
    const bundles = await bundle({ 'my-agent': './card.jsx' });
    const files = new Map(bundles.get('my-agent')?.map(({ basename, contents }) => [basename, text(contents)]));
    expect([...files.keys()].sort()).toEqual(['entrypoint.css', 'entrypoint.js']);
    expect(files.get('entrypoint.css')).toContain('color: rebeccapurple');

    const asked: string[] = [];
    const answers: unknown[] = [];
    const page: Record<PropertyKey, unknown> = {
      document: {
        createElement: (name: string) => ({ name }),
        getElementById: (id: string) => ({ shadowRoot: { appendChild: () => answers.push(id) } }),
      },
      [Symbol.for('LGUI_REQUIRE')]: (name: string) => {
        asked.push(name);
        return name === 'badges'
          ? { badge: (title: string) => `* ${title}` }
          : { jsx: (type: string, props: object) => ({ type, props }) };
      },
      [Symbol.for('LGUI_EXT_STORE')]: {
        respond: (id: string, component: (props: object) => unknown) => answers.push(id, component({ title: 'Hi' })),
      },
    };
    page.window = page;
    runInNewContext(`${files.get('entrypoint.js')};__LGUI_my_agent.render("card", "root-1")`, page);
    expect(asked.sort()).toEqual(['badges', 'react/jsx-runtime']);
    expect(answers).toEqual(['root-1', 'root-1', { type: 'p', props: { className: 'card', children: '* Hi' } }]);
  });

  it('that cannot be bundled are all reported at once, with file and line', async () => {
    const files = {
      broken: './broken.jsx',
      gone: './gone.jsx',
      outside: '../basic/http-app.ts',
      '../up': './card.jsx',
    };
    const error = await bundle(files).catch((cause: Error) => cause);
    expect(error).toBeInstanceOf(GraphLoadError);
    expect((error as Error).message.split('\n')).toEqual([
      'The components of "broken", ./broken.jsx, cannot be bundled: Could not resolve "./nowhere.js" (broken.jsx:1:24).',
      'The components of "gone", ./gone.jsx, cannot be bundled: there is no such file.',
      expect.stringContaining('The components of "outside", ../basic/http-app.ts, cannot be bundled: '),
      'The components of "../up", ./card.jsx, cannot be bundled: the name is not one of a graph.',
    ]);
  });

  it('are not bundled any further when the service stops', async () => {
    const error = await bundle({ agent: './card.jsx' }, { signal: AbortSignal.abort() }).catch((cause: Error) => cause);
    expect((error as Error).message).toBe('The process that bundles the components of "ui" ended (SIGKILL).');
  });
});

function text(contents: Uint8Array): string {
  return new TextDecoder().decode(contents);
}
