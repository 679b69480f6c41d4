//! No code: features of other crates, chosen once, so that all builds of the workspace share compiled crates.
