-- Providers made from now on have browsers sent back to an address of their own. Those that exist are registered with
-- the shared one, and keep it.
ALTER TABLE sso_provider ADD COLUMN has_own_callback boolean NOT NULL DEFAULT false;
