import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { type BundleUiOptions, bundleUi } from '@runyard/host-client';
import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../test/temporary-project.ts';

const components = fileURLToPath(new URL('../../fixtures/components', import.meta.url));

function bundle(files: Record<string, string>, options: Partial<BundleUiOptions> & { shared?: string[] } = {}) {
  const { shared = ['badges'], ...others } = options;
  return bundleUi({
    ui: { files, shared },
    directory: components,
    environment: { PATH: process.env.PATH ?? '' },
    onLog: () => {},
    signal: new AbortController().signal,
    ...others,
  });
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

  it('that cannot be bundled are left out with a warning, by file and line, and the others are there', async () => {
    const files = {
      'my-agent': './card.jsx',
      broken: './broken.jsx',
      gone: './gone.jsx',
      outside: '../basic/http-app.ts',
      '../up': './card.jsx',
    };
    const warnings: string[] = [];
    const bundles = await bundle(files, { onLog: ({ level, message }) => level === 'warn' && warnings.push(message) });
    expect([...bundles.keys()]).toEqual(['my-agent']);
    expect(warnings.filter((each) => each.startsWith('The components'))).toEqual([
      'The components of "broken", ./broken.jsx, cannot be bundled: Could not resolve "./nowhere.js" (broken.jsx:1:24).',
      'The components of "gone", ./gone.jsx, cannot be bundled: there is no such file.',
      expect.stringContaining('The components of "outside", ../basic/http-app.ts, cannot be bundled: '),
      'The components of "../up", ./card.jsx, cannot be bundled: the name is not one of a graph.',
    ]);
  });

  it('have the classes of Tailwind that they use, although the project does not install it', async () => {
    const project = await temporaryProject({
      'langgraph.json': '{}',
      'src/ui.jsx': `import './styles.css'; export default { card: () => <p className="bg-red-500 hover:underline" /> };`,
      'src/styles.css': '@import "tailwindcss";',
    });
    const bundles = await bundle({ agent: './src/ui.jsx' }, { directory: project });
    const styles = bundles.get('agent')?.find(({ basename }) => basename === 'entrypoint.css');
    for (const rule of ['.bg-red-500 {', '.hover\\:underline:hover {']) expect(text(styles!.contents)).toContain(rule);
    expect(text(styles!.contents)).not.toContain('bg-blue-500');
  });

  it('are not bundled any further when the service stops', async () => {
    const error = await bundle({ agent: './card.jsx' }, { signal: AbortSignal.abort() }).catch((cause: Error) => cause);
    expect((error as Error).message).toBe('The process that bundles the components of "ui" ended (SIGKILL).');
  });
});

function text(contents: Uint8Array): string {
  return new TextDecoder().decode(contents);
}
