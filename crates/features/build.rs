//! Empty: cargo counts the features of build dependencies only if there is a build script.

fn main() {}
