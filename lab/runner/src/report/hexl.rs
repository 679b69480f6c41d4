//! The effect of Intel HEXL on SEAL's rows, in words that README, BIAS.md and the benchmarks share.

use serde::Deserialize;

use super::margins::geometric_mean;

/// Our times beside those of SEAL with HEXL, and the ratio of the registry's SEAL, which is without.
const TABLE: &str = include_str!("../../../papers/seal-hexl-2026.csv");

/// A row of the table: how many times as long SEAL takes.
#[derive(Debug, Deserialize)]
struct Line {
    operation: String,
    #[serde(rename = "ratio")]
    with: f64,
    #[serde(rename = "without_hexl")]
    without: Option<f64>,
}

fn lines() -> Vec<Line> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(TABLE.as_bytes());
    reader.deserialize().map_while(Result::ok).collect()
}

/// Returns the sentences about HEXL; `papers` is the path of the tables' folder from the page.
pub(super) fn paragraph(papers: &str) -> String {
    let all = lines();
    let mean = |ratios: Vec<f64>| geometric_mean(ratios.into_iter()).unwrap_or_default();
    let of = |operation: &str| {
        let both = all.iter().filter(|line| operation.is_empty() || line.operation == operation);
        let (with, without) = both.filter_map(|line| Some((line.with, line.without?))).unzip();
        (mean(with), mean(without))
    };
    let (both, rotate, keygen) = (of(""), of("rotate"), of("keygen"));
    let count = all.iter().filter(|line| line.without.is_some()).count();
    let slower = all.iter().filter(|line| line.with < 1.0).count();
    format!(
        "SEAL's rows are of the TenSEAL wheel, without Intel HEXL: no package registry has a build with it. Against SEAL 4.4.3 \
         built natively with HEXL 1.2.6, side by side on one core with AVX-512 IFMA, ours is {:.1} times as fast in the geometric \
         mean of {} rows, and slower in {slower} of them. On the {count} rows that the wheel has too, the mean is {:.1} with HEXL \
         and {:.1} with the wheel; of rotations {:.1} and {:.1}, of key generation {:.1} and {:.1} \
         ([every row with and without]({papers}/seal-hexl-2026.csv)).",
        mean(all.iter().map(|line| line.with).collect()),
        all.len(),
        both.0,
        both.1,
        rotate.0,
        rotate.1,
        keygen.0,
        keygen.1,
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::Path;

    use super::*;

    #[test]
    fn every_page_says_the_same_about_hexl() {
        assert_eq!(lines().len(), 288, "the table is read whole");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let pages = [
            ("README.md", "lab/papers"),
            ("lab/BIAS.md", "papers"),
            ("docs/benchmarks.md", "../lab/papers"),
            ("docs/benchmarks-avx2.md", "../lab/papers"),
        ];
        for (page, papers) in pages {
            let text = std::fs::read_to_string(root.join(page)).unwrap();
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(&paragraph(papers)), "{page} lacks: {}", paragraph(papers));
        }
    }
}
