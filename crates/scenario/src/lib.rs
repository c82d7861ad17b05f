//! The user's scenario file: model, units, defaults, profiles, validation.
