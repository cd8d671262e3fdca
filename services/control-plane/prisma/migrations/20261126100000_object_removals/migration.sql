-- Objects of the object storage that nobody has: those that are to be removed, and those on their way, which would be left behind if
-- whoever brings them were killed.
CREATE TABLE object_removal (
  key      text        COLLATE "C" PRIMARY KEY,
  -- It is not removed before.
  due_at   timestamptz NOT NULL DEFAULT now(),
  -- From here on nobody can have it any more.
  is_begun boolean     NOT NULL DEFAULT false
);
