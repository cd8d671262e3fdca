-- Addresses for sign-in that an organization had before: bookmarks to them still lead to it, and to nobody else.
CREATE TABLE former_login_slug (
  slug text PRIMARY KEY,
  organization_id uuid NOT NULL,
  replaced_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (organization_id) REFERENCES organization (id)
);
CREATE INDEX "former_login_slug_organization_id_idx" ON former_login_slug (organization_id);
