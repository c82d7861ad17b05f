"""Today's protocols under the loads of the dissertation; not part of it."""
