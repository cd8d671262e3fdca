/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | null | undefined | false | readonly Part[];

/** Makes HTML of a template. Values are escaped, unless they are HTML themselves; null, undefined and false are nothing. */
export function html(literals: TemplateStringsArray, ...values: Part[]): Html {
  return new Html(literals.reduce((text, literal, index) => text + render(values[index - 1]) + literal));
}

function render(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(render).join('');
  return String(part).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
