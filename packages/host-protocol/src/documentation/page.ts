import { toHost, toParent } from '../messages/messages.ts';
import { describeForms, describeMessages } from './describe-messages.ts';

const PARTS: Record<string, () => string> = {
  toHost: () => describeMessages(toHost),
  toParent: () => describeMessages(toParent),
  forms: () => describeForms([toHost, toParent]),
};

/** Returns the page with its generated parts, between `<!-- generated: forms -->` and `<!-- end -->`, made anew. */
export function withGeneratedParts(page: string): string {
  return page.replaceAll(
    /(<!-- generated: (\w+) -->\n)(?:(?!<!-- generated: )[\s\S])*?(<!-- end -->)/g,
    (_whole, begin: string, name: string, end: string) => `${begin}\n${PARTS[name]?.() ?? ''}\n\n${end}`,
  );
}
