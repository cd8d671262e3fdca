import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { type BundleUiOptions, bundleUi } from '@runyard/host-client';
import { BUNDLER_FD, UI_BYTES_MAX } from '@runyard/host-protocol';
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

  /** Makes a project with a bundler of its own: `build` writes the files of an agent into `folder`, by this code. */
  function projectWithBundler(code: string): Promise<string> {
    const build = `export async function build({ defs, output }) {
      const [agent] = Object.keys(defs);
      const folder = output + '/public/' + agent;
      mkdirSync(folder, { recursive: true });
      ${code}
    }`;
    const bundler = 'node_modules/@langchain/langgraph-ui';
    return temporaryProject(
      {
        'ui.jsx': '',
        [`${bundler}/package.json`]: '{"name":"@langchain/langgraph-ui","type":"module","exports":"./index.js"}',
        [`${bundler}/index.js`]: `import { once } from 'node:events';\nimport { mkdirSync, truncateSync, writeFileSync, writeSync } from 'node:fs';\n${build}`,
      },
      false,
    );
  }

  it('whose files are too large together are left out with a warning, and those before them are there', async () => {
    const code = `writeFileSync(folder + '/entrypoint.js', ''); truncateSync(folder + '/entrypoint.js', agent === 'huge' ? ${UI_BYTES_MAX + 1} : 10);`;
    const warnings: string[] = [];
    const bundles = await bundle(
      { small: './ui.jsx', huge: './ui.jsx' },
      { directory: await projectWithBundler(code), onLog: ({ message }) => warnings.push(message) },
    );
    expect([...bundles.keys()]).toEqual(['small']);
    expect(warnings.at(-1)).toMatch(/^The components of "huge", .* more than \d+ bytes/);
  });

  it('have no end to what their bundler says: it is ended', async () => {
    const code = `for (const bytes = Buffer.alloc(2 ** 20);;) try { writeSync(${BUNDLER_FD}, bytes); } catch {}`;
    const bundling = bundle({ agent: './ui.jsx' }, { directory: await projectWithBundler(code) });
    await expect(bundling).rejects.toThrow('The process that bundles the components of "ui" answered too much.');
  });

  it('whose bundler prints without a pause are bundled, and what it prints beyond a rate is counted', async () => {
    const code = `const line = 'x'.repeat(1023) + '\\n';
      for (let n = 0; n < 20_000; n += 1) {
        if (!process.stdout.write(line)) await once(process.stdout, 'drain');
      }
      writeFileSync(folder + '/entrypoint.js', '');`;
    const logged: string[] = [];
    const options = {
      directory: await projectWithBundler(code),
      onLog: ({ message }: { message: string }) => logged.push(message),
    };
    const bundles = await bundle({ agent: './ui.jsx' }, options);
    expect([...bundles.keys()]).toEqual(['agent']);
    expect(logged.join('\n')).toMatch(/\d+ lines of output were dropped/);
    expect(logged.length).toBeLessThan(10_000);
  });

  it('are not bundled any further when the service stops', async () => {
    const error = await bundle({ agent: './card.jsx' }, { signal: AbortSignal.abort() }).catch((cause: Error) => cause);
    expect((error as Error).message).toBe('The process that bundles the components of "ui" ended (SIGKILL).');
  });
});

function text(contents: Uint8Array): string {
  return new TextDecoder().decode(contents);
}
