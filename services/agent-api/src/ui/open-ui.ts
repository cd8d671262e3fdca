import { extname } from 'node:path';
import * as contracts from '@runyard/contracts';
import { bundleUi, logOfProject, type UiFile } from '@runyard/host-client';
import { NotFoundError, ok, type ServiceContext } from '@runyard/service-kit';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import type { Config } from '../config.ts';
import { requestBaseUrl } from '../http/base-url.ts';
import type { ServedProject } from '../project/open-served-project.ts';
import { uiElements } from './ui-elements.ts';

export interface Ui {
  routes: GuardedOperation[];
  /** Rejects with a GraphLoadError when the bundler gives no answer. */
  bundled: Promise<void>;
}

const OF_PROJECT = 'Components are of the project, and the same for everybody.';

const CONTENT_TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/**
 * Opens the components of the project for pages. They are being bundled when this returns, so that other parts open
 * meanwhile.
 */
export function openUi(
  { project, environment, user }: Pick<ServedProject, 'project' | 'environment' | 'user'>,
  config: Pick<Config, 'UI_BASE_URL'>,
  { lifecycle, logger }: Pick<ServiceContext, 'lifecycle' | 'logger'>,
  guard: RouteGuard,
): Ui {
  const ownAddress = config.UI_BASE_URL?.replace(/(?<!\/)\/+$/, '');
  const bundles = new Map<string, UiFile[]>();
  const bundled = bundle();
  bundled.catch(() => undefined); // The service awaits it when it is about to open.
  return {
    bundled,
    routes: [
      guard.exempt(contracts.getUi, OF_PROJECT, async ({ params: { agent }, body, headers }) => {
        const files = bundles.get(agent);
        if (!files) throw new NotFoundError(`There are no components of "${agent}"`);
        const basenames = files.map(({ basename }) => basename);
        const address = ownAddress ?? requestBaseUrl(headers);
        const html = uiElements(agent, body.name, { address, basenames });
        return ok(html, { 'content-type': 'text/html' });
      }),
      guard.exempt(contracts.getUiFile, OF_PROJECT, async ({ params: { agent, basename } }) => {
        const file = bundles.get(agent)?.find((each) => each.basename === basename);
        if (!file) throw new NotFoundError('There is no such file');
        return ok(file.contents, {
          'content-type': CONTENT_TYPES[extname(basename)] ?? 'text/plain; charset=utf-8',
          'x-content-type-options': 'nosniff',
        });
      }),
    ],
  };

  async function bundle(): Promise<void> {
    const { ui, http, directory } = project;
    if (ui === null || Object.keys(ui.files).length === 0 || http?.disable_ui) return;
    const stopping = new AbortController();
    lifecycle.onStop('ui bundler', () => stopping.abort());
    const files = await bundleUi({
      ui,
      directory,
      environment,
      user,
      onLog: logOfProject(logger),
      signal: stopping.signal,
    });
    for (const [agent, its] of files) bundles.set(agent, its);
  }
}
