//! Commands that look at a store, check it, bring it to this version, and export its windows.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use sotto_service::config::print;

use crate::config::Config;
use crate::export::Exporter;
use crate::objects::{Objects, Place};
use crate::progress::{end_progress, progress};
use crate::startup;
use crate::store::{self, Report, Sealing, Store, StoreError, StreamReport};

/// Prints what a store holds.
///
/// # Errors
/// There is no store, or it cannot be read.
pub fn store(config: &Config, json: bool) -> anyhow::Result<()> {
    let report = store::report(&config.data).with_context(|| cannot("read", &config.data))?;
    if json {
        return print(&(serde_json::to_string_pretty(&report)? + "\n"));
    }
    print(&text(&report))
}

fn cannot(doing: &str, data: &Path) -> String {
    format!("cannot {doing} {}", data.display())
}

fn text(report: &Report) -> String {
    let line = |what: &str, windows: u64, bytes: u64| {
        format!("{what:<12}{windows} windows, {} bytes", grouped(bytes))
    };
    let windows = report.sealed + report.waiting + report.files;
    let segments = format!(" in {}", counted(report.segments, "segment"));
    let mut lines = vec![
        line("sent", windows, report.sent_bytes),
        line("sealed", report.sealed, report.segment_bytes) + &segments,
        line("waiting", report.waiting, report.database_bytes) + " with the catalogue",
    ];
    if report.files > 0 {
        let bytes = report.bytes - report.segment_bytes - report.database_bytes;
        lines.push(line("in files", report.files, bytes));
    }
    if report.sent_bytes > 0 {
        let ratio = report.bytes as f64 / report.sent_bytes as f64;
        lines.push(format!("{:<12}{ratio:.1} bytes for each byte sent", "stored"));
    }
    if report.roll_ups > 0 {
        let (what, sums) = ("added up", counted(report.roll_ups, "sum"));
        lines.push(format!(
            "{what:<12}{} windows, of which {sums} stay in place of their bodies",
            report.rolled
        ));
    }
    if report.deleted > 0 {
        lines.push(format!("{:<12}{} windows, whose places in the logs stay", "deleted", report.deleted));
    }
    if report.object_segments > 0 {
        let segments = counted(report.object_segments, "segment");
        let bytes = grouped(report.object_bytes);
        lines.push(format!("{:<12}{segments}, {bytes} bytes in the object store", "objects"));
    }
    for backup in &report.backups {
        lines.push(format!("{:<12}of {} in {}", "backup", backup.at, backup.place));
    }
    if report.aside_files > 0 {
        let (files, bytes) = (report.aside_files, grouped(report.aside_bytes));
        let what = "put aside";
        lines.push(format!(
            "{what:<12}{files} files, {bytes} bytes in orphans/ and before-restore-…: delete them to free it"
        ));
    }
    let name = |of: &StreamReport| format!("{}.{}", of.device, of.stream);
    let width = report.streams.iter().map(|of| name(of).len()).max().unwrap_or(0);
    for of in &report.streams {
        let day = |at: &Option<String>| at.as_deref().and_then(|at| at.get(..10)).unwrap_or("–").to_owned();
        lines.push(format!(
            "{:width$}  {} windows, {} bytes, {} runs, {} to {}",
            name(of),
            of.windows,
            grouped(of.sent_bytes),
            of.runs,
            day(&of.from),
            day(&of.to)
        ));
    }
    lines.join("\n") + "\n"
}

/// Returns a number of things in words.
fn counted(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// Returns a number with a comma before each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Checks every byte of a store.
///
/// # Errors
/// Something is damaged or missing, or the store cannot be read.
pub fn check(config: &Config, signatures: bool, json: bool) -> anyhow::Result<()> {
    let store = look(config)?;
    let checked = store
        .check(signatures, windows(progress("checked")))
        .with_context(|| cannot("read", &config.data))?;
    end_progress();
    if json {
        print(&(serde_json::to_string_pretty(&checked)? + "\n"))?;
    } else {
        print(&format!(
            "{} segments with {} windows, {} other envelopes, {} signatures\n",
            checked.segments, checked.sealed, checked.envelopes, checked.signatures
        ))?;
        checked.damage.iter().try_for_each(|line| print(&format!("damaged: {line}\n")))?;
    }
    if checked.damage.is_empty() {
        return Ok(());
    }
    bail!(
        "{} places are damaged: put the files back from a backup with `sotto-cloud repair --from BACKUP`",
        checked.damage.len()
    )
}

fn look(config: &Config) -> anyhow::Result<Store> {
    let tier = config.tier()?;
    Store::look(&config.data).map(|store| store.with_tier(tier)).map_err(|error| match error {
        StoreError::Version(version) => anyhow::anyhow!(
            "{} has version {version}: bring it to this one with `sotto-cloud migrate`",
            config.data.display()
        ),
        error => anyhow::Error::from(error).context(cannot("read", &config.data)),
    })
}

/// Makes a callback for text one for a number of windows.
fn windows(mut told: impl FnMut(String)) -> impl FnMut(u64) {
    move |windows| told(format!("{windows} windows"))
}

/// Repairs the segments of a stopped cloud.
///
/// # Errors
/// The cloud is running, or the store cannot be read or written.
pub fn repair(config: &Config, from: Option<impl Into<Place>>) -> anyhow::Result<()> {
    let from = from.map(|from| Objects::open(&from.into())).transpose()?;
    let cloud = startup::open(config)?;
    cloud.store.wait_for_tier(true);
    let repaired = cloud.store.repair(from.as_ref()).with_context(|| cannot("repair", &config.data))?;
    print(&format!(
        "{}: put back from copies: {}; saved of damaged ones: {}\n",
        config.data.display(),
        counted(repaired.fetched.len() as u64, "segment"),
        counted(repaired.saved, "window")
    ))?;
    if repaired.away > 0 {
        let away = counted(repaired.away, "segment");
        print(&format!("{away} in the object store alone: as written, and left there\n"))?;
    }
    repaired.lost.iter().try_for_each(|line| print(&format!("lost: {line}\n")))
}

/// Brings a stopped cloud's store to this version.
///
/// # Errors
/// The cloud is running, or the store cannot be read or written.
pub fn migrate(config: &Config, dry_run: bool) -> anyhow::Result<()> {
    let before = store::report(&config.data).with_context(|| cannot("read", &config.data))?;
    if dry_run {
        return print(&format!(
            "{}: version {}; {} envelopes in files of their own: windows of sums among them come into segments, with {} that wait \
             in the database. Nothing is changed.\n",
            config.data.display(),
            before.version,
            before.files,
            before.waiting
        ));
    }
    let cloud = startup::open(config)?;
    cloud.store.seal(Sealing::All)?;
    cloud.store.tidy()?;
    drop(cloud);
    let after = store::report(&config.data)?;
    print(&format!(
        "{}: {} windows in {} segments; {} bytes in place of {}\n",
        config.data.display(),
        after.sealed,
        after.segments,
        grouped(after.bytes),
        grouped(before.bytes)
    ))
}

/// Writes the windows of sums of which a reading counts to Parquet files.
///
/// # Errors
/// The store cannot be read, or a file cannot be written.
pub fn export(config: &Config, to: &Path, device: Option<&str>) -> anyhow::Result<()> {
    let store = look(config)?;
    let (mut files, mut windows, mut told) = (0, 0_u64, windows(progress("exported")));
    for header in store.streams_of_sums()? {
        if device.is_some_and(|device| device != header.device()) {
            continue;
        }
        let folder = to.join(header.device());
        fs::create_dir_all(&folder).with_context(|| cannot("make", &folder))?;
        let name = format!("{}-{}.parquet", header.stream(), hex::encode(header.id().tag().0));
        let path = folder.join(name);
        let (mut exporter, mut any) = (Exporter::create(&path, header.clone())?, false);
        let replaced = store.replaced(header.device(), header.stream())?;
        store.each_window(&header, &replaced, |window| {
            (any, windows) = (true, windows + 1);
            if windows.is_multiple_of(4096) {
                told(windows);
            }
            exporter.push(window)
        })?;
        exporter.finish()?;
        if any {
            files += 1;
        } else {
            fs::remove_file(&path).with_context(|| cannot("remove", &path))?;
        }
    }
    end_progress();
    print(&format!("{}: {} in {}\n", to.display(), counted(windows, "window"), counted(files, "file")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_in_threes() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
