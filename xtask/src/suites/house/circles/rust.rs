//! Arrows between the files of a Rust package, found from its tokens: `use` and paths.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use proc_macro2::{TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::{Item, ItemUse, Meta, Token, UseTree};

use super::Graph;
use crate::suites::sources::Source;

/// The path of a module from its crate's root.
type Place = Vec<String>;

/// A module of a crate.
#[derive(Default)]
struct Module {
    file: String,
    /// Items that it defines.
    items: Vec<String>,
    /// Names that `use` brings in, each with its path.
    imports: BTreeMap<String, Vec<String>>,
    /// Paths that `use` brings in with a star.
    stars: Vec<Vec<String>>,
    /// Paths in the code, and single names.
    paths: Vec<Vec<String>>,
}

/// The modules of a crate, by place.
#[derive(Default)]
struct Modules {
    modules: BTreeMap<Place, Module>,
}

/// Returns the arrows of each crate of the checkout. Crates are roots named `src/lib.rs`, `src/main.rs`, `src/bin/*.rs`.
pub(super) fn graphs(sources: &[Source]) -> Result<Vec<Graph>> {
    let files: BTreeMap<&str, &str> =
        sources.iter().map(|source| (source.path.as_str(), source.text.as_str())).collect();
    let is_root = |path: &&&str| {
        path.ends_with("src/lib.rs") || path.ends_with("src/main.rs") || path.contains("/src/bin/")
    };
    files.keys().filter(is_root).map(|root| graph(&files, root)).collect()
}

fn graph(files: &BTreeMap<&str, &str>, root: &str) -> Result<Graph> {
    let mut read = Modules::default();
    read.load(files, root, Vec::new())?;
    let mut graph = Graph::default();
    for (place, module) in &read.modules {
        let imported = module.imports.values().chain(&module.paths);
        for (file, home) in imported.filter_map(|path| read.definition(place, path, 0)) {
            let is_child =
                |child: &Place, parent: &Place| child.split_last().is_some_and(|(_, rest)| rest == parent);
            if !is_child(place, &home) && !is_child(&home, place) {
                graph.add(&module.file, &file);
            }
        }
    }
    Ok(graph)
}

impl Modules {
    /// Reads a file and the files of its modules. A file that is missing belongs to another configuration.
    fn load(&mut self, files: &BTreeMap<&str, &str>, path: &str, place: Place) -> Result<()> {
        let Some(text) = files.get(path) else { return Ok(()) };
        let parsed = syn::parse_file(text).with_context(|| format!("{path} is no Rust"))?;
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let own = place.is_empty() || name == "mod.rs";
        let stem = name.trim_end_matches(".rs");
        let folder = if own { folder.to_owned() } else { format!("{folder}/{stem}") };
        self.items(files, path, &folder, place, parsed.items)
    }

    fn items(
        &mut self,
        files: &BTreeMap<&str, &str>,
        file: &str,
        folder: &str,
        place: Place,
        items: Vec<Item>,
    ) -> Result<()> {
        let mut module = Module { file: file.to_owned(), ..Module::default() };
        for item in items {
            match item {
                Item::Mod(inner) if is_test(&inner.attrs) => {}
                Item::Mod(inner) => {
                    let name = inner.ident.to_string();
                    let within = [place.as_slice(), std::slice::from_ref(&name)].concat();
                    match inner.content {
                        Some((_, items)) => {
                            self.items(files, file, &format!("{folder}/{name}"), within, items)?;
                        }
                        None => {
                            for path in [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")] {
                                self.load(files, &path, within.clone())?;
                            }
                        }
                    }
                }
                Item::Use(ItemUse { tree, .. }) => module.import(&tree, &mut Vec::new()),
                item => {
                    module.items.extend(name(&item));
                    module.paths.extend(paths(quote::ToTokens::to_token_stream(&item)));
                }
            }
        }
        self.modules.insert(place, module);
        Ok(())
    }

    /// Returns the file that defines the item at the end of a path, seen from a module, and the module's place.
    fn definition(&self, from: &Place, path: &[String], depth: usize) -> Option<(String, Place)> {
        // A path that leads back to itself is no definition.
        if depth > 12 {
            return None;
        }
        let mut place = from.clone();
        let mut rest = path;
        let mut explicit = false;
        while let Some((first, after)) = rest.split_first() {
            match first.as_str() {
                "crate" => place = Vec::new(),
                "self" => {}
                "super" => drop(place.pop()),
                _ => break,
            }
            explicit = true;
            rest = after;
        }
        // A single name is an import of its own, or an item of this module or of one brought in by a star.
        if !explicit && rest.len() == 1 {
            return self.by_star(&place, rest, depth);
        }
        while let Some((first, after)) = rest.split_first() {
            let inner = [place.as_slice(), std::slice::from_ref(first)].concat();
            if self.modules.contains_key(&inner) {
                (place, rest, explicit) = (inner, after, true);
                continue;
            }
            let module = self.modules.get(&place)?;
            if module.items.contains(first) {
                return Some((module.file.clone(), place));
            }
            if let Some(path) = module.imports.get(first) {
                let path: Vec<String> = path.iter().chain(after).cloned().collect();
                return if path == rest { None } else { self.definition(&place, &path, depth + 1) };
            }
            return self.by_star(&place, rest, depth).or_else(|| {
                // Defined by a macro.
                explicit.then(|| (module.file.clone(), place.clone()))
            });
        }
        None
    }

    fn by_star(&self, place: &Place, rest: &[String], depth: usize) -> Option<(String, Place)> {
        self.modules.get(place)?.stars.iter().find_map(|star| {
            let (home, module) = self.module(place, star)?;
            let first = rest.first()?;
            if module.items.contains(first) {
                return Some((module.file.clone(), home));
            }
            let path = module.imports.get(first)?;
            self.definition(&home, path, depth + 1)
        })
    }

    /// Returns the module at the end of a path.
    fn module(&self, from: &Place, path: &[String]) -> Option<(Place, &Module)> {
        let mut place = from.clone();
        for part in path {
            match part.as_str() {
                "crate" => place = Vec::new(),
                "self" => {}
                "super" => drop(place.pop()),
                name => place.push(name.to_owned()),
            }
        }
        let module = self.modules.get(&place)?;
        Some((place, module))
    }
}

impl Module {
    /// Takes the names of a `use`.
    fn import(&mut self, tree: &UseTree, path: &mut Vec<String>) {
        match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.import(&inner.tree, path);
                path.pop();
            }
            UseTree::Name(name) => {
                let whole = with(path, &name.ident.to_string());
                self.imports.extend(whole.last().cloned().map(|name| (name, whole)));
            }
            UseTree::Rename(rename) => {
                let whole = with(path, &rename.ident.to_string());
                // `as _` has no name, but an arrow.
                let name = match rename.rename.to_string().as_str() {
                    "_" => whole.join("::"),
                    name => name.to_owned(),
                };
                self.imports.insert(name, whole);
            }
            UseTree::Glob(_) => self.stars.push(path.clone()),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, path)),
        }
    }
}

/// Returns a path with a last part; `self` stands for the path itself.
fn with(path: &[String], last: &str) -> Vec<String> {
    let mut whole = path.to_vec();
    if last != "self" {
        whole.push(last.to_owned());
    }
    whole
}

/// True for `#[cfg(test)]` and conditions that hold in tests alone.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let Meta::List(list) = &attribute.meta else { return false };
        let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        let is_word = |meta: &Meta| meta.path().is_ident("test");
        let all = |meta: &Meta| match meta {
            Meta::List(inner) if inner.path.is_ident("all") => {
                let parts = inner.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
                parts.is_ok_and(|parts| parts.iter().any(is_word))
            }
            other => is_word(other),
        };
        list.path.is_ident("cfg") && parts.is_ok_and(|parts| parts.iter().any(all))
    })
}

fn name(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Macro(item) => item.ident.as_ref()?.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::TraitAlias(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Union(item) => item.ident.to_string(),
        _ => return None,
    })
}

/// Returns the paths and single names in code, also inside of macros.
fn paths(tokens: TokenStream) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut path: Vec<String> = Vec::new();
    let mut colons = 0;
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                // Two colons join it to the path before.
                if colons != 2 && !path.is_empty() {
                    found.push(std::mem::take(&mut path));
                }
                path.push(name.to_string());
                colons = 0;
            }
            TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
            other => {
                if !path.is_empty() {
                    found.push(std::mem::take(&mut path));
                }
                colons = 0;
                if let TokenTree::Group(group) = other {
                    found.extend(paths(group.stream()));
                }
            }
        }
    }
    found.extend((!path.is_empty()).then_some(path));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let source =
            |(path, text): &(&str, &str)| Source { path: format!("a/src/{path}"), text: (*text).to_owned() };
        let sources: Vec<Source> = files.iter().map(source).collect();
        graphs(&sources).unwrap().iter().flat_map(Graph::circles).collect()
    }

    fn of(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| format!("a/src/{name}")).collect()
    }

    const ROOT: (&str, &str) = ("lib.rs", "mod one; mod two; pub use one::One; pub use two::Two;");

    #[test]
    fn re_exports_are_followed_to_the_definition() {
        let files = [
            ROOT,
            ("one.rs", "use crate::Two; pub struct One(Two);"),
            ("two/mod.rs", "mod inner; pub use inner::Two;"),
            ("two/inner.rs", "pub struct Two; fn f() { println!(\"{}\", crate::one::One::new()); }"),
        ];
        assert_eq!(circles(&files), [of(&["one.rs", "two/inner.rs"])]);
    }

    #[test]
    fn parents_children_and_tests_are_not_counted() {
        let files = [
            ("lib.rs", "mod one; mod two; pub struct Zero; use one::One;"),
            ("one.rs", "use crate::Zero; pub struct One; #[cfg(test)] mod tests { use crate::two::Two; }"),
            ("two.rs", "use super::one; pub struct Two(one::One);"),
        ];
        assert_eq!(circles(&files), Vec::<Vec<String>>::new());
    }

    #[test]
    fn names_brought_in_by_a_star_count() {
        let files = [
            ROOT,
            ("one.rs", "use super::two::*; pub struct One; type Other = Two;"),
            ("two.rs", "pub struct Two; impl From<super::One> for Two {}"),
        ];
        assert_eq!(circles(&files), [of(&["one.rs", "two.rs"])]);
    }
}
