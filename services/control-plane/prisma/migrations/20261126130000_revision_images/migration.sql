-- The image that the platform has made of a revision's project for a data plane elsewhere. Null: none, or the platform itself runs it.
ALTER TABLE revision ADD COLUMN image jsonb;
