//! Circles of files: sets of files of one package in which each reaches each other by imports. A change to one of them
//! is felt in all.
//!
//! An arrow leads from a file to the file that defines an item which the first names; re-exports are followed. Arrows
//! between a module and its own children are not counted, nor are tests.

mod graph;
mod python;
mod rust;

use anyhow::Result;

use crate::suites::sources::Source;
use graph::Graph;

/// The most circles in the tree, and the most files in one.
const MOST: usize = 3;
const LARGEST: usize = 7;

/// Prints the circles, and returns the faults.
pub(super) fn faults(sources: &[Source]) -> Result<Vec<String>> {
    let mut circles = Vec::new();
    for graph in rust::graphs(sources)?.into_iter().chain([python::graph(sources)]) {
        circles.extend(graph.circles());
    }
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    let largest = circles.first().map_or(0, Vec::len);
    println!("{} circles of files; the largest has {largest}", circles.len());
    for circle in &circles {
        println!("  {}: {}", circle.len(), circle.join(" "));
    }
    let mut faults = Vec::new();
    if circles.len() > MOST {
        faults.push(format!("{} circles of files; {MOST} is the most", circles.len()));
    }
    if largest > LARGEST {
        faults.push(format!("a circle of {largest} files; {LARGEST} is the most"));
    }
    Ok(faults)
}
