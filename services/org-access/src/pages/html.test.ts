import { expect, it } from 'vitest';
import { html } from './html.ts';

it('a page has values as text, in elements and in attributes, and never as elements', () => {
  const name = `"><script>alert('x')</script>&`;
  const { text } = html`<p title="${name}">${name}${null}${false}${[html`<b>${1}</b>`, 'a']}</p>`;
  const escaped = '&#34;&#62;&#60;script&#62;alert(&#39;x&#39;)&#60;/script&#62;&#38;';
  expect(text).toBe(`<p title="${escaped}">${escaped}<b>1</b>a</p>`);
});
