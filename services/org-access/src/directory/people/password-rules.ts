import { COMMON_WORDS, KEYBOARD_WALKS } from './common-passwords.ts';

export const PASSWORD_LENGTH_MIN = 12;
const PASSWORD_LENGTH_MAX = 256;

/**
 * Returns in a sentence why nobody may have this password; undefined for a good one. Passwords of breaches are refused by
 * their form, from a local list: a common word, however it is spelt and whatever is put around it, a walk over the
 * keyboard, a few characters over and over, or what stands in the person's own address.
 */
export function passwordFault(password: string, email: string): string | undefined {
  const length = [...password].length;
  if (length < PASSWORD_LENGTH_MIN) return `The password needs at least ${PASSWORD_LENGTH_MIN} characters.`;
  if (length > PASSWORD_LENGTH_MAX) return `The password has more than ${PASSWORD_LENGTH_MAX} characters.`;
  const text = password.normalize('NFKC').toLowerCase();
  if (isCommon(text)) return 'The password is one of those that are guessed first: choose another.';
  const parts = email
    .toLowerCase()
    .split(/[@.+_-]/)
    .filter((part) => part.length > 3);
  const rest = parts.reduce((left, part) => left.replaceAll(part, ''), text);
  if (lettersOf(rest).length < 5 && rest !== text)
    return 'The password is little more than the email address: choose another.';
  return undefined;
}

function isCommon(text: string): boolean {
  if (new Set(text).size < 5 || isRepeated(text)) return true;
  if (KEYBOARD_WALKS.some((walk) => isWalk(text, walk))) return true;
  return [lettersOf(text), lettersOf(plainSpelling(text))].some(consistsOfCommonWords);
}

/** Returns whether a text is a shorter one several times. */
function isRepeated(text: string): boolean {
  return (text + text).indexOf(text, 1) < text.length;
}

/** Returns whether a text without what is around it goes along one row, forwards or backwards. */
function isWalk(text: string, walk: string): boolean {
  const there = walk.repeat(3);
  const back = [...there].reverse().join('');
  const cores = [
    text.replaceAll(/^[^\p{L}\d]+|(?<![^\p{L}\d])[^\p{L}\d]+$/gu, ''),
    text.replaceAll(/^[^\p{L}]+|(?<![^\p{L}])[^\p{L}]+$/gu, ''),
  ];
  return cores.some((core) => core.length >= 6 && (there.includes(core) || back.includes(core)));
}

const SPELLINGS: Record<string, string> = {
  '@': 'a',
  4: 'a',
  3: 'e',
  1: 'i',
  '!': 'i',
  0: 'o',
  $: 's',
  5: 's',
  7: 't',
};

function plainSpelling(text: string): string {
  // Digits and signs at the end are an addition rather than letters.
  return text.replace(/(?<![\W\d_])[\W\d_]+$/, '').replaceAll(/[@43!10$57]/g, (character) => SPELLINGS[character]!);
}

function lettersOf(text: string): string {
  return text.replaceAll(/[^\p{L}]/gu, '');
}

/** Returns whether at most three letters are left of a text when the common words are taken out. */
function consistsOfCommonWords(letters: string): boolean {
  if (letters === '') return false;
  let rest = letters;
  for (const word of COMMON_WORDS) rest = rest.replaceAll(word, '');
  return [...rest].length <= 3;
}
