import type { RunSpan } from '@runyard/host-protocol';
import { redactText, sanitizeErrorText } from '@runyard/service-kit';

const NAME_MAX = 200;
const TEXT_MAX = 48 * 1024;
const ERROR_MAX = 1_000;
const ATTRIBUTES_MAX = 64;
const KEYS = /^(?:gen_ai|langgraph|runyard)\.[\w.]{1,100}$|^session\.id$/;
/** Attributes that contain what people and models say. */
const CONTENT = /^gen_ai\.(?:input\.messages|output\.messages|system_instructions|tool\.call\.(?:arguments|result))$/;

/** Returns a span as it may leave the platform: limited, and without credentials and names of internal hosts. */
export function maskSpan(span: RunSpan, { capturesContent }: { capturesContent: boolean }): RunSpan {
  const entries = Object.entries(span.attributes)
    .filter(([key]) => KEYS.test(key) && (capturesContent || !CONTENT.test(key)))
    .slice(0, ATTRIBUTES_MAX);
  const { type, message } = span.error ?? {};
  return {
    ...span,
    name: redactText(span.name).slice(0, NAME_MAX),
    attributes: Object.fromEntries(entries.map(([key, value]) => [key, maskValue(value)])),
    ...(type !== undefined && {
      error: {
        type: redactText(type).slice(0, NAME_MAX),
        // Errors repeat what they failed at: prompts, answers, and what the project keeps secret.
        message: capturesContent ? sanitizeErrorText((message ?? '').slice(0, ERROR_MAX)) : '',
      },
    }),
  };
}

function maskValue(value: RunSpan['attributes'][string]): RunSpan['attributes'][string] {
  if (typeof value === 'string') return redactText(value.slice(0, TEXT_MAX));
  if (!Array.isArray(value)) return value;
  return value.slice(0, ATTRIBUTES_MAX).map((item) => redactText(item.slice(0, NAME_MAX)));
}
