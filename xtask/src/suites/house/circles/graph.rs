//! Arrows between files, and the circles that they close.

use std::collections::{BTreeMap, BTreeSet};

/// Files by path, each with the files to which its arrows lead.
#[derive(Default)]
pub(super) struct Graph {
    arrows: BTreeMap<String, BTreeSet<String>>,
}

impl Graph {
    /// Adds an arrow, unless it leads to its own file.
    pub(super) fn add(&mut self, from: &str, to: &str) {
        if from != to {
            self.arrows.entry(from.to_owned()).or_default().insert(to.to_owned());
        }
    }

    /// Returns the sets of files that reach each other, with their files in order.
    pub(super) fn circles(&self) -> Vec<Vec<String>> {
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            self.arrows.keys().map(|file| (file.as_str(), self.reached(file))).collect();
        let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|files| files.contains(to));
        let mut circles = Vec::new();
        let mut seen = BTreeSet::new();
        for file in reached.keys().filter(|file| reaches(file, file)) {
            if seen.contains(file) {
                continue;
            }
            let circle: Vec<&str> = reached
                .keys()
                .copied()
                .filter(|other| reaches(file, other) && reaches(other, file))
                .collect();
            seen.extend(circle.iter().copied());
            circles.push(circle.into_iter().map(str::to_owned).collect());
        }
        circles
    }

    /// Returns the files at the ends of all walks along arrows.
    fn reached(&self, from: &str) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        let mut open = vec![from];
        while let Some(file) = open.pop() {
            for next in self.arrows.get(file).into_iter().flatten() {
                if found.insert(next.as_str()) {
                    open.push(next);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::Graph;

    #[test]
    fn files_that_reach_each_other_are_a_circle() {
        let mut graph = Graph::default();
        for (from, to) in
            [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "d"), ("f", "a"), ("g", "g")]
        {
            graph.add(from, to);
        }
        assert_eq!(graph.circles(), [vec!["a", "b", "c"], vec!["d", "e"]]);
    }
}
