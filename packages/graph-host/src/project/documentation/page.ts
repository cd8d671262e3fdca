import { describeKeys, describeVariables } from './describe-keys.ts';

const PARTS: Record<string, () => string> = { keys: describeKeys, variables: describeVariables };

/** The page with what is generated in it made anew, between the marks `<!-- generated: keys -->` and `<!-- end -->`. */
export function withGeneratedParts(page: string): string {
  return page.replaceAll(
    /(<!-- generated: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_whole, begin: string, name: string, end: string) => `${begin}\n${PARTS[name]?.() ?? ''}\n\n${end}`,
  );
}
