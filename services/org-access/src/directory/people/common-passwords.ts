/** Words that passwords of breaches consist of most often, the longest first. */
export const COMMON_WORDS: readonly string[] = `
  password passwort motdepasse contrasena contraseña parola senha wachtwoord salasana haslo
  welcome willkommen bienvenue letmein iloveyou ihateyou fuckyou trustno changeme changeit default temporary secret
  admin administrator root superuser sysadmin login signin access system server service support guest tester testing
  test user username account manager master backup oracle postgres database security secure private public
  qwerty qwertz azerty asdf zxcv qazwsx wsx edc rfv abc xyz
  monkey dragon shadow sunshine princess butterfly superman batman spiderman pokemon starwars football baseball
  basketball hockey soccer liverpool chelsea arsenal barcelona juventus yankees cowboys lakers eagles steelers
  michael jennifer jessica ashley nicole daniel thomas robert andrew charlie george jordan hunter harley ranger buster
  tigger ginger pepper maggie cookie chocolate cheese banana orange summer winter spring autumn january february march
  april june july august september october november december monday tuesday wednesday thursday friday saturday sunday
  computer internet google facebook microsoft windows apple samsung linkedin twitter runyard langgraph langchain
  freedom whatever nothing forever lovely hello world friends family mother father angel heaven jesus christ
  mustang corvette ferrari porsche mercedes yamaha honda toyota silver golden diamond purple yellow blue green black
  white killer ninja matrix phoenix warrior legend gandalf zaq one two three four five six seven eight nine zero
  the and love you my me is
`
  .trim()
  .split(/\s+/)
  .sort((a, b) => b.length - a.length);

/** Rows of keys and orders of characters that people type along. */
export const KEYBOARD_WALKS: readonly string[] = [
  'abcdefghijklmnopqrstuvwxyz',
  '0123456789',
  '1234567890',
  'qwertyuiop',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  'asdfghjkl',
  'zxcvbnm',
  '1q2w3e4r5t6y7u8i9o0p',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm',
  'q1w2e3r4t5y6u7i8o9p0',
  'qazwsxedcrfvtgbyhnujm',
  'a1b2c3d4e5f6g7h8i9j0',
  '1a2b3c4d5e6f7g8h9i0j',
];
