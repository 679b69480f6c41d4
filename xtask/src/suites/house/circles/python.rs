//! Imports of the Python package.

use super::Graph;
use crate::suites::sources::Source;

/// The folder of the package, whose name is `sotto`.
const PACKAGE: &str = "bindings/python/python/sotto/";

/// Returns the arrows between the package's modules: imports of names from modules, and of modules. Imports for type
/// checkers alone are indented under `if TYPE_CHECKING:` and count too.
pub(super) fn graph(sources: &[Source]) -> Graph {
    let modules: Vec<(&str, &Source)> =
        sources.iter().filter_map(|source| Some((module(&source.path)?, source))).collect();
    let mut graph = Graph::default();
    for (name, source) in &modules {
        let is_package = source.path.ends_with("/__init__.py");
        for import in source.text.lines().filter_map(imported) {
            for wanted in import.modules(name, is_package) {
                let found = modules.iter().find(|(module, _)| *module == wanted);
                // A package and its modules are parent and child.
                if let Some((other, to)) = found
                    && parent(other) != Some(name)
                    && parent(name) != Some(other)
                {
                    graph.add(&source.path, &to.path);
                }
            }
        }
    }
    graph
}

/// Returns the module of a file of the package: `_table/frame`; the package's own is empty.
fn module(path: &str) -> Option<&str> {
    let inside = path.strip_prefix(PACKAGE)?.strip_suffix(".py")?;
    Some(inside.strip_suffix("__init__").map_or(inside, |folder| folder.trim_end_matches('/')))
}

fn parent(module: &str) -> Option<&str> {
    match module.rsplit_once('/') {
        Some((parent, _)) => Some(parent),
        None => (!module.is_empty()).then_some(""),
    }
}

/// A line `from ..path import names`, or `import sotto.path`.
struct Import<'a> {
    /// Number of dots; 0 counts from the package.
    dots: usize,
    path: &'a str,
    names: &'a str,
}

fn imported(line: &str) -> Option<Import<'_>> {
    let line = line.trim();
    if let Some(path) = line.strip_prefix("import sotto.") {
        return Some(Import { dots: 0, path: path.split([' ', ',']).next()?, names: "" });
    }
    let (from, names) = line.strip_prefix("from ")?.split_once(" import ")?;
    let names = names.trim_matches(|c| "() ".contains(c));
    if let Some(path) = from.strip_prefix("sotto") {
        return Some(Import { dots: 0, path: path.strip_prefix('.').unwrap_or(path), names });
    }
    let path = from.trim_start_matches('.');
    (path.len() < from.len()).then(|| Import { dots: from.len() - path.len(), path, names })
}

impl Import<'_> {
    /// Returns the modules that it may name, seen from a module: the path, and each name as a module of it.
    fn modules(&self, from: &str, is_package: bool) -> Vec<String> {
        let mut base: Vec<&str> = if self.dots == 0 { Vec::new() } else { from.split('/').collect() };
        let ups = if is_package { self.dots.saturating_sub(1) } else { self.dots };
        base.truncate(base.len().saturating_sub(ups));
        base.extend(self.path.split('.').filter(|part| !part.is_empty()));
        base.retain(|part| !part.is_empty());
        let path = base.join("/");
        let within = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        let names = self.names.split(',').filter_map(|name| name.split_whitespace().next());
        let mut found: Vec<String> = names.map(within).collect();
        found.push(path);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let source = |(path, text): &(&str, &str)| Source {
            path: format!("{PACKAGE}{path}"),
            text: (*text).to_owned(),
        };
        graph(&files.iter().map(source).collect::<Vec<_>>()).circles()
    }

    #[test]
    fn imports_of_names_and_of_modules_close_circles() {
        let files = [
            ("__init__.py", "from ._array import Array\n"),
            ("_array.py", "from . import _shapes\n"),
            ("_shapes.py", "def of():\n    from ._array import Array\n"),
            ("_table/__init__.py", "from .frame import Frame\n"),
            ("_table/frame.py", "from .. import _array\nfrom . import cells\n"),
            ("_table/cells.py", "from sotto._table.frame import Frame\n"),
        ];
        let folder = |names: [&str; 2]| names.map(|name| format!("{PACKAGE}{name}")).to_vec();
        assert_eq!(
            circles(&files),
            [folder(["_array.py", "_shapes.py"]), folder(["_table/cells.py", "_table/frame.py"])]
        );
    }
}
