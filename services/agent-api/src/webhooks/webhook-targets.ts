import { type HostnameChecker, type OutboundPolicy, OutboundRefusedError } from '@runyard/outbound';
import type { WebhookTarget } from '@runyard/run-engine';
import { UnprocessableError } from '@runyard/service-kit';
import type { WebhookSettings } from './webhook-settings.ts';

export interface WebhookTargetsOptions {
  settings: Pick<WebhookSettings, 'defaultUrls' | 'acceptsRefused' | 'rules'>;
  policy: OutboundPolicy;
  names: Pick<HostnameChecker, 'check'>;
  /** True when runs notify anybody at all (`http.disable_webhooks`). */
  isEnabled: boolean;
  /** True when the project has an app of its own, which a URL without a host means. */
  hasApp: boolean;
  /** True when the project's handlers decide about each call of its routes: a webhook has no user to decide about. */
  hasGuardedApp?: boolean;
}

/** Decides whom a run notifies of its end. */
export class WebhookTargets {
  readonly #options: WebhookTargetsOptions;

  constructor(options: WebhookTargetsOptions) {
    this.#options = options;
  }

  /**
   * Returns the targets of a run that asks for this webhook, or for none.
   *
   * @throws UnprocessableError when a target may not be reached, unless the project accepts such runs
   */
  async accept(url: string | undefined): Promise<WebhookTarget[]> {
    const targets = this.targetsOf(url);
    if (url === undefined) return targets;
    const checked = await Promise.all(targets.map((target) => this.#withNameChecked(target)));
    for (const { refusal } of checked) {
      if (refusal !== undefined && !this.#options.settings.acceptsRefused)
        throw new UnprocessableError(refusal, { code: 'webhook_refused' });
    }
    return checked;
  }

  /** Returns the targets at once and without an error: for runs that no client is waiting to create. */
  targetsOf(url: string | undefined): WebhookTarget[] {
    if (!this.#options.isEnabled) return [];
    const urls = url === undefined ? this.#options.settings.defaultUrls : [url];
    return urls.map((each) => this.#target(each));
  }

  /** Returns why nothing may be sent to a URL that was accepted earlier; undefined when it may. */
  async refusalOf(url: string): Promise<string | undefined> {
    return (await this.#withNameChecked(this.#target(url))).refusal;
  }

  #target(url: string): WebhookTarget {
    if (isAppPath(url)) {
      const path = pathOf(url);
      const refusal = this.#refusalOfPath(path);
      return { url: path, host: '', ...(refusal !== undefined && { refusal }) };
    }
    try {
      const { href, host } = this.#options.policy.checkUrl(url);
      return { url: href, host };
    } catch (error) {
      if (!(error instanceof OutboundRefusedError)) throw error;
      return { url, host: '', refusal: error.message };
    }
  }

  #refusalOfPath(path: string): string | undefined {
    const { hasApp, hasGuardedApp, settings } = this.#options;
    const { loopback, maxUrlLength = 65_536 } = settings.rules;
    if (path.length > maxUrlLength) return `Webhook URL is longer than ${maxUrlLength} characters`;
    if (!isAppPath(path)) return 'Webhook URL is not valid';
    if (loopback === false) return 'Webhook host blocked: localhost address';
    if (!hasApp) return 'Webhook URL is a path, and the project has no app of its own (http.app) to send it to';
    if (hasGuardedApp && loopback !== true) {
      return 'Webhook URL is a path, and the routes of the project ask who calls (http.enable_custom_route_auth): webhooks.url.disable_loopback: false lets webhooks in';
    }
    return undefined;
  }

  async #withNameChecked(target: WebhookTarget): Promise<WebhookTarget> {
    if (target.refusal !== undefined || target.host === '') return target;
    try {
      await this.#options.names.check(new URL(target.url));
      return target;
    } catch (error) {
      if (!(error instanceof OutboundRefusedError)) throw error;
      return { ...target, refusal: error.message };
    }
  }
}

/**
 * Returns whether the URL is a path on the own app. Two slashes would begin a host, and so would a backslash for a URL
 * parser.
 */
export function isAppPath(url: string): boolean {
  return /^\/(?![/\\])/.test(url);
}

/** Returns the path for a request line: encoded, without dots to be resolved and without a fragment. */
function pathOf(url: string): string {
  const { pathname, search } = new URL(url, 'http://app');
  return pathname + search;
}
