import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { OutboundRules } from '@runyard/outbound';
import { WEBHOOK_FIELDS, type WebhookField, type WebhooksSection } from '@runyard/project';
import { ConfigError } from '@runyard/service-kit';
import { keyOfSecret } from './webhook-signature.ts';

/** The settings of webhooks by the project and the operator, with nothing left to look up. */
export interface WebhookSettings {
  headers: Record<string, string>;
  rules: OutboundRules;
  fields: ReadonlySet<WebhookField>;
  defaultUrls: string[];
  acceptsRefused: boolean;
  /** The keys that sign, newest first; empty when webhooks are not signed. */
  signingKeys: Buffer[];
  /** Warnings to log at start. */
  warnings: string[];
}

export interface WebhookSettingsSources {
  section: WebhooksSection | null;
  /** The environment of the project's code. */
  environment: Record<string, string | undefined>;
  /**
   * The environment of this process. Headers may name only variables of it that are meant for them: it holds secrets
   * that are not the project's.
   */
  serviceEnvironment: Record<string, string | undefined>;
  allowedNetworks: string[] | undefined;
  signingSecrets: string[] | undefined;
}

const OWN_PREFIX = 'LG_WEBHOOK_';
const TEMPLATE = /\$\{\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g;
/** Headers that say what is sent and how; a header of the project's must not contradict them. */
const RESERVED =
  /^(host|content-length|content-type|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*|webhook-(id|timestamp|signature))$/i;

/** @throws ConfigError with a sentence for each fault: a variable that is missing stops the start */
export function webhookSettings(sources: WebhookSettingsSources): WebhookSettings {
  const { section, allowedNetworks } = sources;
  const problems: string[] = [];
  const { require_https, allowed_domains, allowed_ports, max_url_length, disable_loopback } = section?.url ?? {};
  const settings: WebhookSettings = {
    headers: headersOf(sources, problems),
    rules: {
      subject: 'Webhook',
      ...(require_https !== undefined && { requireHttps: require_https }),
      ...(allowed_domains && { allowedDomains: allowed_domains }),
      ...(allowed_ports && { allowedPorts: allowed_ports }),
      ...(max_url_length !== undefined && { maxUrlLength: max_url_length }),
      ...(disable_loopback !== undefined && { loopback: !disable_loopback }),
      ...(allowedNetworks && { allowedNetworks }),
    },
    fields: new Set(section?.payload_fields ?? WEBHOOK_FIELDS),
    defaultUrls: [section?.default_url ?? []].flat(),
    acceptsRefused: section?.on_refused === 'accept',
    signingKeys: signingKeysOf(sources, problems),
    warnings: warningsAbout(section),
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return settings;
}

/** Warns that whoever creates runs names receivers, and so decides who learns the values of headers. */
function warningsAbout(section: WebhooksSection | null): string[] {
  const isFromVariables = Object.values(section?.headers ?? {}).some((value) => value.includes('${{'));
  if (!isFromVariables || section?.url?.allowed_domains) return [];
  return [
    'langgraph.json: webhooks.headers with variables go to every receiver that a run names. webhooks.url.allowed_domains says which may be named.',
  ];
}

function headersOf(sources: WebhookSettingsSources, problems: string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, template] of Object.entries(sources.section?.headers ?? {})) {
    if (RESERVED.test(name)) {
      problems.push(`langgraph.json: webhooks.headers must not set "${name}": it is set with each webhook.`);
      continue;
    }
    const value = fillTemplate(name, template, sources, problems);
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
      headers[name] = value;
    } catch {
      problems.push(`langgraph.json: webhooks.headers."${name}" is not a header that can be sent.`);
    }
  }
  return headers;
}

function fillTemplate(header: string, template: string, sources: WebhookSettingsSources, problems: string[]): string {
  const prefix = sources.section?.env_prefix ?? OWN_PREFIX;
  const value = template.replace(TEMPLATE, (_, name: string) => {
    const found = findVariable(name, sources);
    if (!name.startsWith(prefix)) {
      problems.push(
        `langgraph.json: webhooks.headers."${header}" names the variable ${name}, which does not begin with "${prefix}" (webhooks.env_prefix).`,
      );
    } else if (found === undefined) {
      problems.push(`The variable ${name} is not set; webhooks.headers."${header}" of langgraph.json needs it.`);
    }
    return found ?? '';
  });
  if (value.includes('${{')) {
    problems.push(
      `langgraph.json: webhooks.headers."${header}" may hold \${{ env.NAME }} and nothing else in \${{ }}.`,
    );
  }
  return value;
}

function findVariable(name: string, { environment, serviceEnvironment }: WebhookSettingsSources): string | undefined {
  return environment[name] ?? (name.startsWith(OWN_PREFIX) ? serviceEnvironment[name] : undefined);
}

function signingKeysOf({ signingSecrets, environment }: WebhookSettingsSources, problems: string[]): Buffer[] {
  const secrets = signingSecrets ?? environment.WEBHOOK_SIGNING_SECRETS?.split(',') ?? [];
  return secrets
    .map((secret) => secret.trim())
    .filter((secret) => secret !== '')
    .flatMap((secret, index) => {
      const key = keyOfSecret(secret);
      if (key) return [key];
      problems.push(
        `WEBHOOK_SIGNING_SECRETS: secret ${index + 1} must be "whsec_" and 24 to 64 bytes in base64, as "openssl rand -base64 32" makes them.`,
      );
      return [];
    });
}
