//! The report as a page: complete, with charts, and self-contained.

use sotto_runner::{Collection, Gap, Host, Row, report};

fn row(definition: &str, engine: &str, operation: &str, n: usize, median: f64) -> Row {
    let written = operation == "serialise";
    serde_json::from_value(serde_json::json!({
        "definition": definition, "engine": engine, "version": "1", "scheme": "bfv", "n": n, "limbs": 2,
        "special_limbs": 1, "log2_q": 70.0, "log2_qp": 106.0, "security_profile": "he-standard-2018",
        "security_bits": 128, "operation": operation, "median_us": median, "mean_us": median, "sd_us": 0.0,
        "count": 3, "bytes": written.then_some(1000 * n), "codec": written.then_some("zlib"), "verified": true
    }))
    .unwrap()
}

fn collection() -> Collection {
    let mut rows = Vec::new();
    for (n, factor) in [(4096, 1.0), (8192, 2.3)] {
        for (engine, speed) in [("sotto", 1.0), ("seal", 3.0)] {
            for operation in ["add", "multiply", "serialise"] {
                rows.push(row("seal-2024", engine, operation, n, 100.0 * factor * speed));
            }
        }
    }
    let gap = Gap {
        definition: "seal-2024".into(),
        engine: "openfhe".into(),
        scheme: None,
        n: None,
        parameters: None,
        operation: None,
        reason: "is not installed".into(),
        log: Some("no wheel for <this> Python".into()),
    };
    let machine = Host { processor: "A processor".into(), vectors: vec!["avx2".into()], ..Host::default() };
    Collection { rows, gaps: vec![gap], machine: Some(machine), ..Collection::default() }
}

/// Asserts that every opened element is closed, in order.
fn assert_balanced(page: &str) {
    const EMPTY: [&str; 5] = ["meta", "link", "br", "!DOCTYPE", "i/"];
    let mut open: Vec<&str> = Vec::new();
    for piece in page.split('<').skip(1) {
        let inside = piece.split('>').next().unwrap();
        let name = inside.split(|c: char| c.is_whitespace()).next().unwrap();
        if let Some(closed) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "…<{}", piece.chars().take(60).collect::<String>());
        } else if !inside.ends_with('/') && !EMPTY.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_page_is_whole_and_needs_nothing_else() {
    let page = report::html(&collection());
    assert_balanced(&page);
    for outside in ["http:", "https:", "src=", "@import", "url(", "<script"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("width=device-width"));
}

#[test]
fn the_page_has_charts_ratios_published_figures_and_gaps() {
    let page = report::html(&collection());
    // A line for each engine and operation; the frontier needs two points.
    assert_eq!(page.matches("<path class=\"line\"").count(), 6);
    assert_eq!(page.matches("<rect").count(), 6);
    assert!(page.matches("<svg").count() == 7, "{}", page.matches("<svg").count());
    assert!(page.contains("3.00×"), "ratio to the fastest other");
    assert!(page.contains("Time against bytes"));
    assert!(page.contains("Intel Core i3-2370M"), "published figures name their machine");
    assert!(page.contains("no wheel for &lt;this&gt; Python"));
    assert!(page.contains("download=\"rows.csv\" href=\"data:text/csv"));
    assert!(page.contains("A processor") && page.contains("avx2"));
}

#[test]
fn a_folder_gets_page_tables_and_rows() {
    let folder = tempfile::tempdir().unwrap();
    assert!(report::write(folder.path(), folder.path()).is_err(), "nothing to report");
    let lines: Vec<String> =
        collection().rows.iter().map(|row| serde_json::to_string(row).unwrap()).collect();
    std::fs::write(folder.path().join("seal-2024.rows.jsonl"), lines.join("\n")).unwrap();
    let written = report::write(folder.path(), folder.path()).unwrap();
    assert_eq!(written.len(), 3);
    let csv = std::fs::read_to_string(folder.path().join("report.csv")).unwrap();
    assert_eq!(csv.lines().count(), 13);
    assert!(csv.starts_with("definition,parameters,quick,engine,version"));
    let markdown = std::fs::read_to_string(folder.path().join("report.md")).unwrap();
    assert!(markdown.contains("| add | 100 µs | 300 µs | 3.00× |"), "{markdown}");
}
