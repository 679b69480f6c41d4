//! What the device reads: a series of readings, arguments, names in its spool, the cloud's receipts.

use sotto_agent::arguments::RowRange;
use sotto_agent::source::{Series, Source as _};
use sotto_agent::spool::Entry;
use sotto_agent::upload::{Cloud, Receipt};

use super::{Inputs, Target, in_file};

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "series", run: series, inputs: Inputs::Kept(all_series), memory: |bytes| 16 * bytes.len() + (256 << 10) },
    Target { name: "device-words", run: words, inputs: Inputs::Kept(all_words), memory: |bytes| 64 * bytes.len() + (256 << 10) },
    Target { name: "receipt", run: receipt, inputs: Inputs::Kept(receipts), memory: |bytes| 64 * bytes.len() + (16 << 10) },
];

fn all_series() -> Vec<Vec<u8>> {
    ["time,load\n0,1.5\n1,\n2,-3e2\n3,nan\n", "load\n\"1\"\n 2 \n\n3,4,5\n", "load,load\n1,2\n"]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
}

/// Every row of the column `load`, whose range is found in the file.
fn series(bytes: &[u8]) -> bool {
    in_file(bytes, |path| {
        let mut accepted = false;
        for declared in [None, Some((0.0, 1.0))] {
            let Ok(mut series) = Series::open(path, "load", None, declared, 1000) else { continue };
            accepted = true;
            // A row takes a byte of the file at least.
            let rows = (0..=bytes.len()).take_while(|_| series.next_row().is_ok()).count();
            assert!(rows <= bytes.len(), "a file has an end");
        }
        accepted
    })
}

fn all_words() -> Vec<Vec<u8>> {
    ["0..10", "http://127.0.0.1:7410", "https://example.org/a/b", "00000000000000000012.a.b.7.345.envelope"]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
}

fn words(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let rows = text.parse::<RowRange>();
    if let Ok(rows) = &rows {
        assert!(rows.from < rows.to);
    }
    let entry = Entry::from_file(&text, 0);
    if let Some(entry) = &entry {
        assert_eq!(entry.file_name(), text);
    }
    rows.is_ok() | entry.is_some() | Cloud::new(&text).is_ok()
}

fn receipts() -> Vec<Vec<u8>> {
    let receipt = format!(
        r#"{{"id":"{}","digest":"{}","stored_at":1,"duplicate":false}}"#,
        "0a".repeat(16),
        "ff".repeat(32)
    );
    let problem = r#"{"type":"urn:sotto:problem:truncated","title":"Bad Request","status":400,"detail":"x","reason":"truncated"}"#;
    vec![receipt.into_bytes(), problem.as_bytes().to_vec()]
}

fn receipt(bytes: &[u8]) -> bool {
    // A problem document is read as any value.
    let receipt = serde_json::from_slice::<Receipt>(bytes).is_ok();
    receipt | serde_json::from_slice::<serde_json::Value>(bytes).is_ok()
}
