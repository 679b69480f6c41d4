//! No code: features of other crates, chosen once, so that every build of the workspace shares what it compiles.
