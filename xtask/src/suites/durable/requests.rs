//! Requests that come twice, or under the name of another request.

use super::Cases;
use super::Site;
use super::fixture::{self, holds, waiting, whole_days};
use super::http::request;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::fs;

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let mut site = fixture::plant(cases.sotto())?;
    site.write("first.csv", fixture::days(0, 1))?;
    site.write("boiler.csv", fixture::days(0, 3))?;
    site.start_cloud()?;
    site.agent("boiler", &["--csv", "first.csv"])?;
    site.stop_cloud("TERM")?;
    let mut agent = site.start_agent("boiler", &["--csv", "boiler.csv"])?;
    let kept = waiting(&site, "boiler.spool", 2)?.into_iter();
    let messages =
        kept.map(|(key, kept)| Ok((key, message(&kept)?))).collect::<Result<Vec<(String, Vec<u8>)>>>()?;
    agent.end("KILL")?;
    site.start_cloud()?;
    let url = site.cloud_url()?;
    let post =
        |key: &str, body: &[u8]| request(&url, "POST", "/v1/envelopes", &[("Idempotency-Key", key)], body);
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
    cases.case("a job that is submitted twice under one name is one job", twice(&site, &url)?);
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// Returns the message that leaves the device, from a window in its spool: a frame of kind 35 has the header of the stream
/// of sums before it (docs/concepts/wire.md).
fn message(kept: &[u8]) -> Result<Vec<u8>> {
    const HEAD: usize = 16;
    const DIGEST: usize = 32;
    const KINDS: usize = 1 << 15;
    const COUNTS_ROUNDED: usize = 1 << 14;
    let payload = kept.get(HEAD..kept.len().saturating_sub(DIGEST)).context("no frame")?;
    let mut rest = payload;
    let mut take = |count: usize| -> Result<usize> {
        let (taken, after) = rest.split_at_checked(count).context("a short header")?;
        rest = after;
        // Numbers: only the lowest two bytes count.
        Ok(taken.iter().take(2).rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    };
    take(16)?;
    for _ in ["device", "stream"] {
        let length = take(1)?;
        take(length)?;
    }
    // Skips period and ticks; then the channels, and the quantities of each part.
    take(8 + 4)?;
    // The highest bit says that channels have kinds: here gauges, that do not hold; the next that windows count rounded
    // readings.
    let channels = take(2)?;
    for _ in 0..channels & !(KINDS | COUNTS_ROUNDED) {
        for _ in ["name", "unit"] {
            let length = take(1)?;
            take(length)?;
        }
        take(3 * 8)?;
        if channels & KINDS != 0 {
            ensure!(take(1)? == 1, "the channel is no gauge");
            take(2)?;
        }
    }
    for _ in 0..take(1)? {
        take(1)?;
        for _ in 0..take(2)? {
            let quantity = take(1)?;
            take(2)?;
            match quantity {
                3 => drop(take(2)?),
                4 => {
                    let edges = take(2)?;
                    take(8 * edges)?;
                }
                _ => {}
            }
            take(2)?;
        }
    }
    ensure!(rest.first() == Some(&5), "no window of sums follows the header of its stream");
    Ok(rest.to_vec())
}

/// Submits the plan of the owner's last job again, twice under one name and once on other windows; returns the faults.
fn twice(site: &Site, url: &str) -> Result<Vec<String>> {
    let token = fs::read_to_string(site.folder().join("plant/secrets/owner-token"))?;
    let bearer = format!("Bearer {}", token.trim());
    let list = |path: &str| -> Result<Value> {
        let (_, body) = request(url, "GET", path, &[("Authorization", &bearer)], &[])?;
        serde_json::from_str(&body).with_context(|| format!("{path}: {body}"))
    };
    // Exact questions are sums, which need no job.
    site.sotto(&["question", "add", "curve", "mean(polynomial(temperature, [0, 1, 0.01])) by day"])?;
    site.sotto(&["device", "renew", "boiler"])?;
    site.sotto(&["status"])?;
    site.agent("boiler-2", &["--csv", "boiler.csv"])?;
    site.ask("curve", &[])?;
    let jobs = list("/v1/jobs")?;
    let envelopes = list("/v1/envelopes?device=boiler&stream=real-1h.2")?;
    let count = usize::try_from(jobs[0]["inputs"].as_u64().context("no job")?)?;
    let ids: Vec<&Value> = envelopes.as_array().into_iter().flatten().map(|listed| &listed["id"]).collect();
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Idempotency-Key", "the-same"),
        ("Content-Type", "application/json"),
    ];
    let submit = |ids: Vec<&Value>| {
        let submission = json!({ "plan": jobs[0]["plan"], "inputs": ids }).to_string();
        request(url, "POST", "/v1/jobs", &headers, submission.as_bytes())
    };
    let inputs = || ids.iter().copied().cycle().take(count).collect::<Vec<_>>();
    let (first, again) = (submit(inputs())?, submit(inputs())?);
    let other = submit(inputs().into_iter().skip(1).chain([ids[0]]).collect())?;
    let mut faults = Vec::new();
    faults.extend(holds((first.0, again.0) == (202, 200) && first.1 == again.1, || {
        format!("{first:?}, then {again:?}")
    }));
    let refused = other.0 == 409 && other.1.contains("idempotency-key-reused");
    faults.extend(holds(refused, || format!("on other windows: {other:?}")));
    let more = list("/v1/jobs")?.as_array().map_or(0, Vec::len);
    let before = jobs.as_array().map_or(0, Vec::len);
    faults.extend(holds(more == before + 1, || format!("{before} jobs, then {more}")));
    Ok(faults)
}
