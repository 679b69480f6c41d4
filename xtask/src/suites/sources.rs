//! The hand-written files of the checkout.

use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// One text file.
pub(crate) struct Source {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn has_extension(&self, wanted: &[&str]) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, extension)| wanted.contains(&extension))
    }
}

/// Returns every Rust, Python and Markdown file, in order of its path. Hidden folders and caches are left out; cargo's
/// target folder, wherever it is, carries a `CACHEDIR.TAG`.
pub(crate) fn all(root: &Path) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if entry.file_type()?.is_dir() {
                let is_made = name == "__pycache__" || name == "node_modules";
                if !name.starts_with('.') && !is_made && !path.join("CACHEDIR.TAG").exists() {
                    folders.push(path);
                }
            } else if [".rs", ".py", ".md"].iter().any(|end| name.ends_with(end)) {
                let text =
                    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                sources.push(Source { path: relative(root, path), text });
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

fn relative(root: &Path, path: PathBuf) -> String {
    let inside = path.strip_prefix(root).map(Path::to_path_buf).unwrap_or(path);
    inside.to_string_lossy().replace('\\', "/")
}
