//! The benchmarks: our rows against the fastest other engine and against the targets, as a page of the documentation
//! and as a summary.

use std::fmt::Write as _;

use super::format::duration;
use super::margins::{Met, geometric_mean, met};
use crate::row::{Gap, Row};
use crate::store::Collection;

/// Returns the whole page; `commit` names the measured code.
pub(super) fn page(collection: &Collection, commit: &str) -> String {
    let (rows, alone) = met(&collection.rows);
    let mut text = String::from("# Benchmarks\n\n");
    // Writing to a string cannot fail, here and below.
    let _ = write!(text, "{}", origin(collection, commit));
    text += "Times are medians on one thread. Of each operation ours stands against the fastest other engine that may be \
             compared ([how](../lab/METHODOLOGY.md), [and where that may be unfair](../lab/BIAS.md)): the same data modulus within 3 %, checked by \
             decryption. `≥` is the margin that the project wants. [Comparisons with a limit](benchmarks-comparisons.md), \
             [sums of windows](benchmarks-sums.md), [the price of secrecy](benchmarks-price.md) and [the system's own \
             steps](benchmarks-system.md) have pages of their own.\n\n";
    text += &summary_of(&rows, "../lab");
    let mut title = "";
    for row in &rows {
        if row.title != title {
            title = row.title;
            let _ = write!(
                text,
                "\n## {title}\n\n| operation | scheme | n | sotto | fastest other | | times as fast | ≥ | |\n\
                 | --- | --- | ---: | ---: | --- | ---: | ---: | ---: | --- |\n"
            );
        }
        text += &line(row);
    }
    let named = |rows: &[&&Row]| {
        let name = |row: &&&Row| format!("{} {} n = {}", row.scheme.to_uppercase(), row.label(), row.n);
        rows.iter().map(name).collect::<Vec<_>>().join("; ")
    };
    let (verified, unverified): (Vec<&&Row>, Vec<&&Row>) = alone.iter().partition(|row| row.verified);
    if !verified.is_empty() {
        let _ =
            write!(text, "\nNo other engine has a row that may be compared with: {}.\n", named(&verified));
    }
    if !unverified.is_empty() {
        let _ = write!(text, "\nNot verified, and so not compared: {}.\n", named(&unverified));
    }
    let ours = |gap: &&Gap| gap.engine == "sotto" && gap.definition == "operations";
    for gap in collection.gaps.iter().filter(ours) {
        let _ = write!(text, "\nNot there: {}: {}.\n", gap.about(), gap.reason);
    }
    text
}

/// Returns the summary, for a README.
pub(super) fn summary(collection: &Collection, commit: &str) -> String {
    format!("{}{}", origin(collection, commit), summary_of(&met(&collection.rows).0, "lab"))
}

fn origin(collection: &Collection, commit: &str) -> String {
    let machine = collection.machine.as_ref();
    let machine = machine.map_or(String::new(), |m| format!("{}, {}; ", m.processor, m.vectors.join(", ")));
    let quick = if collection.rows.iter().any(|row| row.quick && row.definition == "operations") {
        ", a quick run: few repetitions"
    } else {
        ""
    };
    format!("{machine}`sotto-lab run operations` at commit {commit}{quick}.\n\n")
}

/// Returns a line for each margin: the smallest and largest of its ratios at small and at large n. `lab` is the path of
/// the lab's folder from the page.
fn summary_of(rows: &[Met<'_>], lab: &str) -> String {
    let mut text = String::from(
        "| how many times as fast as the fastest other: least … largest | n = 4096, 8192 | ≥ | n = 16384, 32768 | ≥ |\n\
         | --- | ---: | ---: | ---: | ---: |\n",
    );
    let mut titles: Vec<&str> = rows.iter().map(|row| row.title).collect();
    titles.dedup();
    for title in titles {
        let cell = |large: bool| {
            let of: Vec<&Met<'_>> =
                rows.iter().filter(|row| row.title == title && row.is_large() == large).collect();
            let ratios = || of.iter().map(|row| row.ratio);
            let Some(first) = of.first() else { return "– | ".to_owned() };
            let (least, largest) = (ratios().fold(f64::MAX, f64::min), ratios().fold(0.0, f64::max));
            let mark = if of.iter().all(|row| row.is_met()) { "" } else { " ✗" };
            format!("{} … {}{mark} | {}", number(least), number(largest), number(first.wanted))
        };
        let _ = writeln!(text, "| {title} | {} | {} |", cell(false), cell(true));
    }
    let mean = |large: bool| {
        let ratios = rows.iter().filter(|row| row.is_large() == large).map(|row| row.ratio);
        geometric_mean(ratios).map_or("–".to_owned(), number)
    };
    let _ = writeln!(text, "| geometric mean of all rows | {} | 5 | {} | |", mean(false), mean(true));
    let (all, short) = (rows.len(), rows.iter().filter(|row| !row.is_met()).count());
    let slower = rows.iter().filter(|row| row.ratio < 1.0).count();
    let _ = writeln!(
        text,
        "\n{all} rows; {short} are short of their margin (✗), {slower} of these slower than the other ([where we may be wrong about \
         others]({lab}/BIAS.md)). {} Serialising and parsing stand against SEAL's Zstandard, not against libraries that copy memory; sums, \
         products by plaintexts and tensors (marked † in the rows) are compared per limb at n ≥ 16384, where memory is their \
         limit.",
        super::hexl::paragraph(&format!("{lab}/papers"))
    );
    text
}

fn line(row: &Met<'_>) -> String {
    let stands_in = row.other.instead.as_ref().map_or(String::new(), |instead| format!(" ({instead})"));
    let sizes = match (row.ours.bytes, row.other.bytes) {
        (Some(ours), Some(other)) => format!(" {ours} bytes against {other}"),
        _ => String::new(),
    };
    format!(
        "| {} | {} | {} | {} | {}{stands_in} | {} | {}{} | {} | {}{sizes} |\n",
        row.ours.operation,
        row.ours.scheme.to_uppercase(),
        row.ours.n,
        duration(row.ours.median_us),
        row.other.engine,
        duration(row.other.median_us),
        number(row.ratio),
        if row.per_limb { " †" } else { "" },
        number(row.wanted),
        if row.is_met() { "" } else { "✗" },
    )
}

fn number(value: f64) -> String {
    match value {
        v if v >= 99.95 => format!("{v:.0}"),
        v if v >= 9.995 => format!("{v:.1}"),
        v if (v - v.round()).abs() < 1e-9 => format!("{v:.0}"),
        v => format!("{v:.2}"),
    }
}

/// The two lines of a file that enclose its summary.
pub(super) const MARKS: [&str; 2] = ["<!-- lab summary: begin -->", "<!-- lab summary: end -->"];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::replaced;
    use super::*;
    use crate::row::Row;

    #[test]
    fn the_page_names_both_engines_the_ratio_and_what_was_wanted() {
        let rows = vec![
            Row::example("sotto", "rotate", 4096, 10.0),
            Row::example("seal", "rotate", 4096, 40.0),
            Row::example("sotto", "keygen", 8192, 10.0),
            Row::example("seal", "keygen", 8192, 90.0),
        ];
        let collection = Collection { rows, ..Collection::default() };
        let text = page(&collection, "abc");
        assert!(text.contains("| rotate | BFV | 4096 | 10.0 µs | seal | 40.0 µs | 4 | 4.50 | ✗ |"), "{text}");
        assert!(text.contains("| geometric mean of all rows | 6 | 5 | – | |"), "{text}");
        assert!(text.contains("2 rows; 1 are short of their margin (✗), 0 of these slower"), "{text}");
        assert!(text.contains("at commit abc"));
    }

    #[test]
    fn a_summary_goes_where_the_file_has_a_place_for_it() {
        let file = format!("# Title\n{}\nold\n{}\nend\n", MARKS[0], MARKS[1]);
        let text = replaced(&file, MARKS, "new\n").unwrap();
        assert_eq!(text, format!("# Title\n{}\nnew\n{}\nend\n", MARKS[0], MARKS[1]));
        assert_eq!(replaced(&text, MARKS, "new\n").unwrap(), text, "the same again");
        assert_eq!(replaced("# Title\n", MARKS, "new"), None);
    }
}
