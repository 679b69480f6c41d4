//! Removes folder names from the messages of libraries and installations.

/// Returns the text with every path cut to its last part.
pub(super) fn without_paths(text: &str) -> String {
    const AROUND: [char; 12] = [' ', '\n', '\t', '"', '\'', '`', '(', ')', '[', ']', ',', '='];
    let mut cut = String::with_capacity(text.len());
    let mut word = String::new();
    for c in text.chars() {
        if AROUND.contains(&c) {
            cut.push_str(last_part(&word));
            cut.push(c);
            word.clear();
        } else {
            word.push(c);
        }
    }
    cut.push_str(last_part(&word));
    cut
}

/// Returns the last part of an absolute path; package addresses stay whole.
fn last_part(word: &str) -> &str {
    // Also after a compiler option, or as the place before a message.
    for before in ["-I", "-L", "-isystem"] {
        if let Some(path) = word.strip_prefix(before).filter(|path| path.starts_with('/')) {
            return last_part(path);
        }
    }
    if let Some((_, path)) = word.split_once(":/").filter(|(_, path)| !path.starts_with('/')) {
        return path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    }
    let windows = word.get(1..3).is_some_and(|drive| drive == ":\\");
    if word.contains("://") {
        return "(address)";
    }
    let unix = word.starts_with('/') && word.matches('/').count() > 1;
    if !unix && !windows {
        return word;
    }
    word.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_cut_off() {
        let said = "/root/packager/build/src/pke/parametergeneration.cpp:l.75:computeRingDimension(): dimension (4096)";
        assert_eq!(
            without_paths(said),
            "parametergeneration.cpp:l.75:computeRingDimension(): dimension (4096)"
        );
        assert_eq!(without_paths("$ /home/me/venv/bin/python -m pip"), "$ python -m pip");
        assert_eq!(without_paths("No file '/a/b/c.h' in (/x/y/)"), "No file 'c.h' in (y)");
        assert_eq!(without_paths("5 and/or 1/2 /tmp"), "5 and/or 1/2 /tmp");
        assert_eq!(without_paths("from https://host.example/simple/x\nnext"), "from (address)\nnext");
        assert_eq!(without_paths("g++ -I/home/me/.cache/include error:/home/me/x.c"), "g++ include x.c");
        assert_eq!(without_paths("C:\\me\\a.c failed"), "a.c failed");
    }
}
