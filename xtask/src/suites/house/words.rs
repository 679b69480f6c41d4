//! Comments that let people in: few riddles, and an example at every public type of the crates.

use super::Source;

/// Words that often stand where a noun should.
const RIDDLES: [&str; 3] = ["what", "whoever", "whether"];
/// Share of comment lines that may have one.
const MOST_RIDDLES: f64 = 0.01;

/// Refuses a tree in which more than 1 % of the comment lines have a word that a noun should replace.
pub(super) fn riddles(code: &[&Source]) -> Vec<String> {
    let comments: Vec<&str> = code
        .iter()
        .filter(|source| source.has_extension(&["rs"]))
        .flat_map(|source| source.text.lines())
        .filter(|line| line.trim_start().starts_with("//"))
        .collect();
    let is_riddle = |line: &&&str| {
        line.split(|c: char| !c.is_alphabetic()).any(|word| RIDDLES.contains(&word.to_lowercase().as_str()))
    };
    let riddles = comments.iter().filter(is_riddle).count();
    let share = riddles as f64 / comments.len().max(1) as f64;
    println!(
        "{} comment lines, {riddles} with {}: {:.2} %",
        comments.len(),
        RIDDLES.join(", "),
        100.0 * share
    );
    let fault =
        || format!("{riddles} of {} comment lines say {}: name the thing", comments.len(), RIDDLES.join("/"));
    (share > MOST_RIDDLES).then(fault).into_iter().collect()
}

/// Names the public types of the crates whose documentation has neither an example nor says where one is.
pub(super) fn without_example(code: &[&Source]) -> Vec<String> {
    let of_crates = |source: &&&Source| {
        source.path.starts_with("crates/")
            && source.path.contains("/src/")
            && !source.path.contains("/firmware/")
    };
    let (mut types, mut faults) = (0, Vec::new());
    for source in code.iter().filter(of_crates).filter(|source| source.has_extension(&["rs"])) {
        let lines: Vec<&str> = source.text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            if line.starts_with("mod tests") {
                break;
            }
            let Some(name) = public_type(line) else { continue };
            let docs = documentation(&lines[..index]);
            if docs.contains("doc(hidden)") || docs.contains("cfg(doctest)") {
                continue;
            }
            types += 1;
            if !docs.contains("```") && !docs.contains("Example: [`") {
                faults.push(format!(
                    "{}:{}: {name} has no example that runs, and no line `Example: [`Other`]`",
                    source.path,
                    index + 1
                ));
            }
        }
    }
    println!("{types} public types of the crates, {} without an example", faults.len());
    faults
}

/// Returns the name, if the line declares a public type. Types of traits are not meant.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let mut words = rest.split_whitespace();
    let keyword = words.next()?;
    let nested = line.starts_with(' ') && keyword == "type";
    (["struct", "enum", "trait", "type"].contains(&keyword) && !nested).then_some(())?;
    words.next()?.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// Returns the comments and attributes that end before a line.
fn documentation(before: &[&str]) -> String {
    let belongs = |line: &&&str| {
        let text = line.trim();
        text.starts_with("//") || text.starts_with("#[") || text.ends_with(")]") || text.ends_with(',')
    };
    let mut lines: Vec<&str> = before.iter().rev().take_while(belongs).copied().collect();
    lines.reverse();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_type_without_an_example_is_named() {
        let bare = source("crates/a/src/lib.rs", "/// Bytes.\n#[derive(Debug)]\npub struct Bare<T> {\n");
        let shown =
            source("crates/a/src/b.rs", "/// Bytes.\n///\n/// ```\n/// f();\n/// ```\npub enum Shown {}\n");
        let elsewhere =
            source("crates/a/src/c.rs", "/// Example: [`Shown`]\npub trait Elsewhere {\n    pub type X;\n");
        let hidden =
            source("crates/a/src/d.rs", "#[doc(hidden)]\npub struct Hidden;\nmod tests {\npub struct T;\n");
        let program = source("apps/a/src/lib.rs", "pub struct Program;\n");
        let faults = without_example(&[&bare, &shown, &elsewhere, &hidden, &program]);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains("lib.rs:3: Bare"));
    }

    #[test]
    fn riddles_are_counted_by_line() {
        let clear = source("a.rs", &"// Bytes of a frame.\n".repeat(200));
        let riddle = source("b.rs", "// What is in it.\n// Whatever\nlet what = 1;\n");
        assert!(riddles(&[&clear, &riddle]).is_empty());
        assert_eq!(riddles(&[&riddle]).len(), 1);
    }
}
