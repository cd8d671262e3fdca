import { describeKeys, describeVariables } from './describe-keys.ts';

const PARTS: Record<string, () => string> = { keys: describeKeys, variables: describeVariables };

/** Returns the page with its generated parts, between `<!-- generated: keys -->` and `<!-- end -->`, made anew. */
export function withGeneratedParts(page: string): string {
  return page.replaceAll(
    /(<!-- generated: (\w+) -->\n)(?:(?!<!-- generated: )[\s\S])*?(<!-- end -->)/g,
    (_whole, begin: string, name: string, end: string) => `${begin}\n${PARTS[name]?.() ?? ''}\n\n${end}`,
  );
}
