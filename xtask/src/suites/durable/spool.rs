//! Spools that are lost, restored from a copy, or hold messages that were put aside.

use super::Cases;
use super::fixture::{self, holds, whole_days};
use anyhow::Result;
use std::fs;
use std::path::Path;

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    lost(cases)?;
    restored(cases)
}

/// The spool is lost: the device asks the cloud for its position.
fn lost(cases: &mut Cases) -> Result<()> {
    let mut site = fixture::plant(cases.sotto())?;
    site.write("first.csv", fixture::days(0, 2))?;
    site.write("both.csv", fixture::days(0, 4))?;
    site.start_cloud()?;
    site.agent("boiler", &["--csv", "first.csv"])?;
    fs::remove_dir_all(site.folder().join("boiler.spool"))?;
    let summary = site.agent("boiler", &["--csv", "both.csv"])?;
    let sent = holds(summary["windows"] == 2 && summary["refused"] == 0, || summary.to_string());
    cases.case("a lost spool: the device goes on after its last window", sent);
    cases.case("a lost spool: nothing is lost, nothing counts twice", whole_days(&site, 0..4)?);
    let status = site.status("boiler")?;
    cases.case("a lost spool: the owner sees it", holds(status["recoveries"] == 1, || status.to_string()));
    let told = site.sotto(&["status"])?;
    cases.case("a lost spool: `sotto status` says it", holds(told.contains("spool"), || told.clone()));
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// The spool is restored from a copy older than the last windows sent.
fn restored(cases: &mut Cases) -> Result<()> {
    let mut site = fixture::plant(cases.sotto())?;
    for (name, days) in [("first.csv", 1), ("second.csv", 3), ("third.csv", 5)] {
        site.write(name, fixture::days(0, days))?;
    }
    site.start_cloud()?;
    site.agent("boiler", &["--csv", "first.csv"])?;
    let (spool, copy) = (site.folder().join("boiler.spool"), site.folder().join("copy"));
    copy_folder(&spool, &copy)?;
    site.agent("boiler", &["--csv", "second.csv"])?;
    fs::remove_dir_all(&spool)?;
    copy_folder(&copy, &spool)?;
    // Its next numbers are used already: some windows are made again and put aside, then it continues after the last
    // number.
    let ended = site.try_agent("boiler", &["--csv", "third.csv"])?;
    let told = ended.status.success() || ended.stderr.contains("sotto-agent requeue");
    cases.case("an old copy of the spool: refusals are told", holds(told, || ended.stderr.clone()));
    site.try_agent("boiler", &["--csv", "third.csv"])?;
    cases.case("an old copy of the spool: nothing is lost, nothing counts twice", whole_days(&site, 0..5)?);
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}
