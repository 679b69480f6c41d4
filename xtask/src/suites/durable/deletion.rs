//! The owner deletes windows.

use super::fixture::{self, holds, judge, whole_days};
use super::{Cases, Site};
use anyhow::{Context as _, Result};
use std::fs;

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let mut site = fixture::plant(cases.sotto())?;
    site.write("boiler.csv", fixture::days(0, 4))?;
    site.write("all.csv", fixture::days(0, 6))?;
    site.start_cloud()?;
    site.agent("boiler", &["--csv", "boiler.csv"])?;
    site.sotto(&["ask", "daily"])?;
    let windows = |site: &Site| -> Result<u64> {
        let report = site.program("sotto-cloud", &["store", "--config", "plant/cloud.toml", "--json"])?;
        let report: serde_json::Value = serde_json::from_str(&report)?;
        Ok(["sealed", "waiting", "files"].iter().filter_map(|place| report[place].as_u64()).sum())
    };
    let files = |site: &Site, folder: &str| -> Result<usize> {
        let folder = site.folder().join("plant").join(folder);
        Ok(fs::read_dir(&folder).with_context(|| folder.display().to_string())?.count())
    };
    let forget = ["forget", "--device", "boiler", "--before", "2025-01-03"];
    let refused = site.try_sotto(&forget)?;
    let asked = holds(refused.status.code() == Some(2) && windows(&site)? == 4, || {
        format!("{}: {}", refused.status, refused.stderr)
    });
    cases.case("nothing is deleted without --yes where nobody can be asked", asked);
    let told = site.sotto(&[&forget[..], &["--yes"]].concat())?;
    let left = (windows(&site)?, files(&site, "cloud/outputs")?, files(&site, "answers")?);
    let mut found = holds(left == (2, 0, 0), || format!("windows, outputs, answers: {left:?}"));
    for word in ["2 windows", "backup", "device"] {
        found.extend(holds(told.contains(word), || format!("it does not say {word:?}: {told}")));
    }
    cases.case("two days are forgotten: bodies, outputs and answers", found);
    cases.case("the other days are there", judge(&site.ask("daily", &["--since", "2025-01-03"])?, 2..4));
    fs::remove_dir_all(site.folder().join("boiler.spool"))?;
    site.agent("boiler", &["--csv", "all.csv"])?;
    cases.case("forgotten days do not come back with the file", whole_days(&site, 2..6)?);
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}
