//! Requests that come twice, or under another request's name.

use super::Cases;
use super::fixture::{self, holds, waiting, whole_days};
use super::http::request;
use anyhow::Result;

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let mut site = fixture::plant(cases.sotto())?;
    site.write("first.csv", fixture::days(0, 1))?;
    site.write("boiler.csv", fixture::days(0, 3))?;
    site.start_cloud()?;
    site.agent("boiler", &["--csv", "first.csv"])?;
    site.stop_cloud("TERM")?;
    let mut agent = site.start_agent("boiler", &["--csv", "boiler.csv"])?;
    let messages = waiting(&site, "boiler.spool", 2)?;
    agent.end("KILL")?;
    site.start_cloud()?;
    let url = site.cloud_url()?;
    let post =
        |key: &str, body: &[u8]| request(&url, ("POST", "/v1/envelopes"), &[("Idempotency-Key", key)], body);
    let (status, body) = post(&messages[0].0, &messages[1].1)?;
    cases.case(
        "a window under the name of another one is refused",
        holds(status == 422 && body.contains("idempotency-key"), || format!("{status}: {body}")),
    );
    let mut found = Vec::new();
    for (key, message) in &messages {
        for expected in [201, 200] {
            let (status, body) = post(key, message)?;
            found.extend(holds(status == expected, || format!("{key}: {status}, not {expected}: {body}")));
        }
    }
    cases.case("each under its own name is stored once", found);
    site.agent("boiler", &["--csv", "boiler.csv"])?;
    cases.case("nothing was blocked, nothing counts twice", whole_days(&site, 0..3)?);
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}
