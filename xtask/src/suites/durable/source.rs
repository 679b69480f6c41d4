//! Unreadable sources, and impossible readings.

use super::fixture::{self, holds, whole_days};
use super::{Cases, refusal};
use anyhow::Result;

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let mut site = fixture::plant(cases.sotto())?;
    site.start_cloud()?;
    // No sensor of this machine measures a boiler's temperature.
    let done = site.try_agent("boiler", &["--source", "sensors", "--ticks", "3"])?;
    let mut found = refusal(&done, 1, &["temperature"]);
    let windows = site.status("boiler")?["windows"].clone();
    found.extend(holds(windows == 0, || format!("{windows} windows were sent")));
    cases.case("sensors that cannot be read: an error, and nothing is made up", found);

    let mut rows = fixture::days(0, 1);
    rows.push_str("2199-01-01T00:00:00Z,20\n");
    site.write("first.csv", rows)?;
    let summary = site.agent("boiler", &["--csv", "first.csv"])?;
    let counted = summary["left_out"]["future"] == 1;
    cases.case("a time in the far future is left out and counted", holds(counted, || summary.to_string()));
    site.write("second.csv", fixture::days(0, 2))?;
    site.agent("boiler", &["--csv", "second.csv"])?;
    cases.case("the rows after it are not taken for sent", whole_days(&site, 0..2)?);
    cases.case("nothing is left behind", site.close()?);
    generated(cases)
}

/// Generated readings are marked as such.
fn generated(cases: &mut Cases) -> Result<()> {
    let mut site = fixture::plant(cases.sotto())?;
    site.start_cloud()?;
    let options = ["--source", "generate", "--ticks", "48", "--column", "temperature=temperature"];
    site.agent("boiler", &options)?;
    let status = site.status("boiler")?;
    let counted = status["generated"].as_u64().is_some_and(|windows| windows > 0);
    cases.case("generated windows are counted in the status", holds(counted, || status.to_string()));
    let answer = site.ask("daily", &[])?;
    let noted = answer["notes"].to_string().contains("a generator made up");
    cases.case("an answer from generated readings says so", holds(noted, || answer.to_string()));
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}
