import type { ErrorEntry } from './entry.ts';

/** Errors of control-plane about deployments, their revisions, sources and listeners. */
export const DEPLOYMENT_ERRORS = {
  source_invalid: {
    status: 400,
    meaning: 'The source of a deployment cannot be used: the folder, its `langgraph.json`, the repository or a field.',
    remedy: 'Correct what the text names.',
  },
  source_tarball_unknown: {
    status: 400,
    meaning: 'The path was not issued for this deployment, or the archive does not exist.',
    remedy: 'Ask for an upload URL, upload, then name its path.',
  },
  source_unsuitable: {
    status: 400,
    meaning: 'The operation is for deployments with another source.',
    remedy: 'Create a deployment with that source.',
  },
  deployment_name_taken: {
    status: 400,
    meaning: 'Another deployment of this workspace has the name.',
    remedy: 'PATCH that deployment, or take another name.',
  },
  deployment_being_deleted: {
    status: 400,
    meaning: 'The deployment is being deleted.',
    remedy: 'Create another deployment.',
  },
  revision_ended: {
    status: 400,
    meaning: 'The revision has ended and cannot be interrupted.',
    remedy: 'Nothing; another revision replaces it.',
  },
  secret_name_reserved: {
    status: 400,
    meaning: 'A secret has the name of a variable of the platform.',
    remedy: 'Leave it out.',
  },
  secret_references_disabled: {
    status: 400,
    meaning:
      '`secret_references` are sent, and `SECRET_REFERENCES_DIR` is not set; or those of a listener refer to secrets of the workspace.',
    remedy: 'Set it, or send secrets.',
  },
  build_failed: {
    meaning: 'A revision cannot be built, and another attempt would not help. Its `status_message` says why.',
    remedy: 'Correct what the message names, and redeploy.',
  },
  revision_start_failed: {
    meaning: 'A revision was built and cannot be started. Its `status_message` says why; the former revision goes on.',
    remedy: 'Correct what the message names, and redeploy.',
  },
  webhook_signature_invalid: {
    status: 401,
    meaning: 'A delivery is not signed with the secret of its deployment, or there is no such deployment.',
    remedy: 'Enter the secret again.',
  },
  listener_key_invalid: {
    status: 401,
    meaning: 'The key of a listener is unknown or revoked.',
    remedy: 'Make another key of the listener.',
  },
  listener_key_out_of_place: {
    status: 403,
    meaning: "A listener's key is used for another listener, or for something else than its data plane.",
    remedy: 'Give each data plane a key of its own listener; use a key of org-access for anything else.',
  },
  upload_url_invalid: {
    status: 403,
    meaning: 'The upload URL was changed, has expired, or its deployment was deleted.',
    remedy: 'Ask for another.',
  },
  build_url_invalid: {
    status: 403,
    meaning: 'The URL with which a builder asks was changed, or is older than two days.',
    remedy:
      'Nothing: the build is put into the queue again. Often: set the same `ENCRYPTION_KEY` for all control-planes.',
  },
  build_taken: {
    status: 409,
    meaning: 'A builder asks for a build that another one was at work on a moment ago.',
    remedy: 'Nothing: it asks again, and gets the build when the other one is not heard of any more.',
  },
  build_not_ordered: {
    status: 409,
    meaning: 'A builder sends or fetches something of a build that another one has now, or that nobody needs any more.',
    remedy: 'Nothing: it stops. Often: see why builders are slow to report, or are killed.',
  },
  build_source_missing: {
    status: 404,
    meaning: 'The archive that a revision is built of is not in the object storage any more.',
    remedy: 'Upload it again.',
  },
  agent_already_deployed: {
    status: 409,
    meaning: 'An agent has one deployment in each environment, and this one has it.',
    remedy: 'PATCH that deployment: `GET /v2/deployments?agent_id=…`.',
  },
  upload_in_use: {
    status: 409,
    meaning: 'A revision names the archive of this upload already, or another request is storing one.',
    remedy: 'Ask for another upload URL.',
  },
  listener_exists: {
    status: 409,
    meaning: 'The workspace has a listener for this cluster or machine.',
    remedy: 'Use that listener, or another `compute_id`.',
  },
  listener_in_use: {
    status: 409,
    meaning: 'The listener has deployments.',
    remedy: 'Delete them first.',
  },
  listener_lease_held: {
    status: 409,
    meaning: 'Another data plane holds the lease of the listener.',
    remedy: 'Nothing: the data plane takes over when the lease lapses. If both shall run, give each a listener.',
  },
  workspace_secrets_unavailable: {
    status: 503,
    meaning: 'org-access is unavailable: a revision that refers to secrets of its workspace cannot start.',
    remedy: 'Look at org-access: the roll-out is tried again by itself.',
  },
  access_policies_unavailable: {
    status: 503,
    meaning: 'org-access is unavailable: nobody can say what access policies leave the caller.',
    remedy: 'Try again.',
  },
  tags_unavailable: {
    status: 503,
    meaning: 'org-access is unavailable: nobody can say which deployments have a tag.',
    remedy: 'Try again, or list without `tag_value_ids`.',
  },
} as const satisfies Record<string, ErrorEntry>;
