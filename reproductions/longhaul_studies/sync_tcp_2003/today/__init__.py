"""Not of the dissertation: today's protocols under the same loads."""
