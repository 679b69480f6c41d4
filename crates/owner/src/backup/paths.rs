//! Paths of the files that a backup holds.

use std::path::{Component, Path};

/// Folders that are taken with everything in them.
pub(super) const FOLDERS: [&str; 7] =
    ["tls", "secrets", "devices", "enrolments", "logs", "alarms", "answers"];

/// Files of the folder itself; models in JSON beside them. Nothing reads `fleets`, which backups of earlier versions hold.
const FILES: [&str; 4] = ["sotto.toml", "cloud.toml", "ca.pem", "fleets"];

/// The note of the last backup, which no backup holds.
pub(super) const NOTE: &str = "backup.json";

/// Longest path, in bytes.
const LONGEST_PATH: usize = 1024;

/// Returns true if a path names a file that a backup may hold: below the plant's folder, and one of those listed here.
pub(super) fn is_in_a_plant(path: &str) -> bool {
    let is_plain = |component: Component<'_>| matches!(component, Component::Normal(name) if name.to_str().is_some_and(|name| !name.contains(['\\', '\0', ':'])));
    let mut names = path.split('/');
    let first = names.next().unwrap_or_default();
    let is_file = path == first && (FILES.contains(&path) || path.ends_with(".json") && path != NOTE);
    path.len() <= LONGEST_PATH
        && !path.split('/').any(str::is_empty)
        && Path::new(path).components().all(is_plain)
        && !path.split('/').any(|name| name == "." || name == "..")
        && (is_file || FOLDERS.contains(&first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_the_folder() {
        for path in [
            "sotto.toml",
            "model.json",
            "secrets/a.key",
            "logs/boiler.d/exact-1h.log",
            "secrets/old/a.key.17",
        ] {
            assert!(is_in_a_plant(path), "{path}");
        }
        for path in [
            "",
            "/etc/passwd",
            "secrets/../../x",
            "secrets//a",
            "./sotto.toml",
            "cloud/cloud.sqlite",
            "backup.json",
            "a/b.json",
            "secrets/",
            "secrets/./a",
            "evaluation-keys/a",
            "boiler.bundle",
            "secrets\\a",
            "before-restore-1/a",
        ] {
            assert!(!is_in_a_plant(path), "{path}");
        }
    }
}
