import type { ErrorEntry } from './entry.ts';

/** Errors about who calls, and what they may do. */
export const CALLER_ERRORS = {
  credentials_missing: {
    status: 401,
    meaning: 'The request has no key.',
    remedy: 'Send `X-Api-Key`.',
  },
  api_key_invalid: {
    status: 401,
    meaning:
      'The key is unknown, mistyped or revoked, or its account was disabled. At the gateway it may have expired.',
    remedy: 'Make a new key.',
  },
  api_key_expired: {
    status: 401,
    meaning: 'The key is past its `expires_at`, which cannot be moved.',
    remedy: 'Make a new key.',
  },
  principal_token_missing: {
    status: 401,
    meaning: 'The request did not come through the gateway.',
    remedy: 'Call the address of the gateway.',
  },
  principal_token_invalid: {
    status: 401,
    meaning: 'The token is not from this platform, has expired, or was made for another deployment.',
    remedy: "Compare `DEPLOYMENT_ID` with the deployment's id in control-plane, and the clocks of the machines.",
  },
  internal_token_invalid: {
    status: 401,
    meaning: 'Another service calls an internal operation with a token that this one does not know.',
    remedy: 'Give both services the same `INTERNAL_TOKEN`.',
  },
  key_read_only: {
    status: 403,
    meaning: 'The key only reads.',
    remedy: 'Use another key.',
  },
  permission_missing: {
    status: 403,
    meaning: "The key's role does not have the permission that `detail` names.",
    remedy: 'Give the key a role that has it, or use another key.',
  },
  workspace_required: {
    status: 403,
    meaning: 'A key of the whole organization is used on something of one workspace.',
    remedy: 'Send `X-Tenant-Id`.',
  },
  workspace_deleted: {
    status: 404,
    meaning: '`X-Tenant-Id` names a workspace that was deleted, and the caller administers its organization.',
    remedy: 'Leave the header out, or name another workspace.',
  },
  workspace_out_of_reach: {
    status: 403,
    meaning: '`X-Tenant-Id` or, for people, `X-Organization-Id` names one that the caller does not reach, or none.',
    remedy: 'Leave the header out, or use another key; `detail` says whether single sign-on is required.',
  },
  session_invalid: {
    status: 401,
    meaning: "The token is no session's, or its signature is not from this platform.",
    remedy: 'Sign in again.',
  },
  session_ended: {
    status: 401,
    meaning:
      'The session was signed out, is over `SESSION_MAX_SECONDS` or `SESSION_IDLE_SECONDS`, or lost its organization.',
    remedy: 'Sign in again.',
  },
  organization_out_of_reach: {
    status: 403,
    meaning: '`X-Organization-Id` names an organization where the person may not act with this session, or none.',
    remedy: 'Leave the header out, choose another one, or sign in through the identity provider of the organization.',
  },
  sso_required: {
    status: 403,
    meaning: 'The organization is `sso_only`, and the session is not from one of its identity providers.',
    remedy: 'Sign in through the identity provider of the organization.',
  },
  oauth_request_invalid: {
    status: 400,
    meaning: 'A request of OAuth lacks a parameter, repeats one, or names a grant or resource that is not ours.',
    remedy: 'See `error` and `error_description`.',
  },
  oauth_grant_refused: {
    status: 400,
    meaning: 'A refresh token or the code of a program does not work (any more), or the person has not answered yet.',
    remedy: 'After `authorization_pending` and `slow_down` ask again; otherwise sign in again.',
  },
  oauth_client_unknown: {
    status: 401,
    meaning: 'The `client_id` is no program that may act for people here, or its registration cannot be read any more.',
    remedy: 'Use `langsmith-cli`, or register the MCP client again.',
  },
  mcp_servers_unavailable: {
    status: 503,
    meaning: 'Nobody says which deployment an MCP client asks for: control-plane does not answer.',
    remedy: 'Look at control-plane, and whether org-access has `CONTROL_PLANE_URL`.',
  },
  form_forged: {
    status: 403,
    meaning: 'A form was sent that is not from a page of this session: another site may have sent it.',
    remedy: 'Load the page again, and send its form.',
  },
  session_required: {
    status: 403,
    meaning: 'The operation is about a person who signed in, and the caller is a key.',
    remedy: 'Sign in, or send the access token of a session.',
  },
  session_cookie_required: {
    status: 403,
    meaning: 'The operation takes only the newest cookie of the session: no access token makes or replaces others.',
    remedy: 'Call it from the browser that signed in.',
  },
  own_account_required: {
    status: 403,
    meaning:
      "The session is of an organization's identity provider or of a program, and may not change the person's own account.",
    remedy: 'Sign in with email and password in a browser.',
  },
  organization_required: {
    status: 403,
    meaning: 'The person who signed in acts in no organization.',
    remedy: 'Send `X-Organization-Id`, or join an organization.',
  },
  address_not_allowed: {
    status: 403,
    meaning: 'The organization limits the addresses from which it may be used, and the client has another.',
    remedy: 'Call from an allowed network, or have `ip_allowlist` changed. Behind a proxy, is `TRUSTED_PROXIES` set?',
  },
  cross_site_request: {
    status: 403,
    meaning: "A browser sent the session's cookie in a request that no page of this host asked for.",
    remedy: 'Send an access token or a key instead of the cookie.',
  },
  foreign_page: {
    status: 403,
    meaning: 'A page of another site asked a local agent server without a key.',
    remedy: 'Name the origin of the page with `--origin` at the start, or let it send a key.',
  },
  sign_in_refused: {
    status: 401,
    meaning: 'The email address or the password is wrong; which of them is not said.',
    remedy: 'Try again, or ask for a new password.',
  },
  second_factor_refused: {
    status: 401,
    meaning: 'The code of the authenticator app is wrong or was used already, or the recovery code was.',
    remedy: 'Wait for the next code of the app.',
  },
  second_factor_required: {
    status: 403,
    meaning: 'The password is right, and the account has a second factor.',
    remedy: 'Send its code in `X-Second-Factor`.',
  },
  account_disabled: {
    status: 403,
    meaning: 'The person is disabled in every organization.',
    remedy: 'Ask an administrator of the organization.',
  },
  invite_for_another: {
    status: 403,
    meaning: 'The invite is for another email address than that of the person who is signed in.',
    remedy: 'Sign in with the address of the invite.',
  },
  form_from_elsewhere: {
    status: 403,
    meaning:
      'A form or page of sign-in was not opened by a person in the own window, or the form is of an older session.',
    remedy: 'Load the page again.',
  },
  account_exists: {
    status: 409,
    meaning: 'There is an account with this email address, or its owner has proved it.',
    remedy: 'Sign in with it, after "Forgot your password?" if somebody else made it, or invite the person.',
  },
  second_factor_exists: {
    status: 409,
    meaning: 'The account has an authenticator app.',
    remedy: 'Remove it first.',
  },
  passkey_refused: {
    status: 401,
    meaning:
      'The passkey is unknown here, or its proof is not good: of another site, without the check of the person that it needs, or copied.',
    remedy: 'Try again, or sign in with the password. A passkey that was copied has to be replaced.',
  },
  passkey_invalid: {
    status: 400,
    meaning: 'What the browser made is no passkey for this site.',
    remedy: "Open the page at the platform's own address, and begin again.",
  },
  passkey_exists: {
    status: 409,
    meaning: 'The passkey is registered already, or the account has as many as it may have.',
    remedy: 'Remove one that is not used any more, or use another authenticator.',
  },
  passkey_not_found: {
    status: 404,
    meaning: 'The person has no passkey with this id.',
    remedy: 'List the passkeys.',
  },
  passkeys_unavailable: {
    status: 409,
    meaning:
      'Browsers make no passkeys for the address of this installation, or the account has no password: passkeys are for accounts that sign in here.',
    remedy: 'Give PUBLIC_URL a host name and HTTPS, or set a password first.',
  },
  challenge_expired: {
    status: 400,
    meaning: 'The challenge for a passkey has expired, was used, or is of another browser.',
    remedy: 'Begin again: a challenge works once, for ten minutes.',
  },
  link_expired: {
    status: 400,
    meaning: 'A link that works once has been used or withdrawn, or has expired.',
    remedy: 'Ask for a new one.',
  },
  console_code_invalid: {
    status: 400,
    meaning: 'The code with which a browser came to the console was used, has expired, or was not for its backend.',
    remedy: 'Sign in at the console again.',
  },
  sign_in_throttled: {
    status: 429,
    meaning: 'There were many failed attempts for this account or from this network address.',
    remedy: 'Wait as long as `Retry-After` says.',
  },
  plan_required: {
    status: 403,
    meaning: 'The plan of the organization is below Plus.',
    remedy: 'Ask the operator to raise it.',
  },
  token_keys_unavailable: {
    status: 503,
    meaning: 'The keys that verify the tokens of callers cannot be fetched: `PLATFORM_JWKS_URL` does not answer.',
    remedy: 'Look at org-access, or at the data plane that passes them on.',
  },
  too_many_requests_of_session: {
    status: 429,
    meaning: 'The browser of a person has hundreds of requests, or dozens of live streams, open at one console.',
    remedy: 'Close windows, or wait for `Retry-After`.',
  },
  key_check_unavailable: {
    status: 503,
    meaning: 'org-access is unavailable, and this key was not used in the last minute.',
    remedy: 'Look at org-access; at a remote data plane, also at its connection to the platform.',
  },
} as const satisfies Record<string, ErrorEntry>;
