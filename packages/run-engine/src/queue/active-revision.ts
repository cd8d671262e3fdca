/** SQL: the revision of worker `w` is the one whose workers may claim runs of deployment `d`. */
export const IS_ACTIVE_REVISION = '(d.active_revision IS NULL OR d.active_revision = w.revision_id)';
