//! Checks that `conformance/tests/README.md` names tests that exist.

use std::path::Path;

#[test]
fn tests_that_the_table_of_operations_names_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let table = std::fs::read_to_string(root.join("conformance/tests/README.md")).unwrap();
    let folders = ["conformance/tests/it", "crates/circuits/tests/it"];
    // `Type::function` begins with a capital letter; `file::test` does not.
    let is_file = |(file, _): &(&str, &str)| file.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let words = table.split('`').skip(1).step_by(2);
    let named: Vec<(&str, &str)> = words.filter_map(|word| word.split_once("::")).filter(is_file).collect();
    assert!(named.len() > 10, "the table names tests");
    for (file, test) in named {
        let text = folders.iter().find_map(|folder| {
            std::fs::read_to_string(root.join(folder).join(file).with_extension("rs")).ok()
        });
        let text = text.unwrap_or_else(|| panic!("no test file {file}.rs"));
        let is_test = text.contains(&format!("fn {test}(")) && text.contains("#[test]");
        assert!(is_test, "{file}.rs has no test {test}");
    }
}
