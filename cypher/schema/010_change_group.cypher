// A commit whose outcome is unknown is looked for by its group.
CREATE INDEX change_group IF NOT EXISTS
FOR (change:Change) ON (change.group)
